// GeneratorSource: rows made in the engine. Row n is a pure function of (seed, n).
//
// Each column has up to eight streams of random numbers: number k of column c in row n is
// mix(mix(seed ^ mix(8 * c + k)) + n), with SplitMix64's output function as `mix`. The numbers are
// part of the contract (connectors/datagen.py states it, datagen_rows.py computes the same in
// numpy): never to change.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "source/chunked_source.h"

namespace penstock {

// What a column holds in row n; `below(k, b)` is an integer in [0, b), `unit(k)` a float in [0, 1)
// of stream k.
struct SequenceColumn {  // int64: start + n * step
  int64_t start = 0;
  int64_t step = 1;
};
struct IntColumn {  // int64: min + below(0, max - min + 1)
  int64_t min = 0;
  int64_t max = 0;
};
struct FloatColumn {  // float64: min + unit(0) * (max - min)
  double min = 0;
  double max = 1;
};
struct BoolColumn {  // unit(0) < probability
  double probability = 0.5;
};
struct ChoiceColumn {  // utf8, int64 or float64: values[below(0, number of values)]
  std::variant<std::vector<std::string>, std::vector<int64_t>, std::vector<double>> values;
};
struct StringColumn {  // utf8: prefix, then below(0, cardinality) in decimal
  std::string prefix;
  uint64_t cardinality = 1;
};
// timestamp[ms]: start + floor(n * step) - below(0, disorder + 1), and `late` less where unit(1) <
// late_fraction.
struct TimestampColumn {
  int64_t start = 0;
  double step = 1;
  int64_t disorder = 0;
  int64_t late = 0;
  double late_fraction = 0;
};

using GeneratedValues = std::variant<SequenceColumn, IntColumn, FloatColumn, BoolColumn,
                                     ChoiceColumn, StringColumn, TimestampColumn>;

struct GeneratorColumn {
  std::string name;
  GeneratedValues values;
};

struct GeneratorOptions {
  std::vector<GeneratorColumn> columns;
  std::optional<int64_t> count;  // nullopt: without end
  uint64_t seed = 0;
  double rows_per_second = 0;  // over all subtasks; <= 0: no limit
  int64_t batch_rows = kChunkRows;
};

class GeneratorSource final : public ChunkedSource {
 public:
  // kInvalidArgument naming the column when its parameters make no sense.
  static Result<std::shared_ptr<GeneratorSource>> create(GeneratorOptions options);

  [[nodiscard]] const SchemaPtr& schema() const { return schema_; }
  // Rows [first, first + count).
  Result<Batch> read(int64_t first, int64_t count) override;

 private:
  explicit GeneratorSource(GeneratorOptions options);

  std::vector<GeneratorColumn> columns_;
  uint64_t seed_;
  SchemaPtr schema_;
};

}  // namespace penstock
