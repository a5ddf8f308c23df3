// The built-in aggregates: count, sum, min, max, avg, with their accumulators as structure of
// arrays.
//
// `BoundAggregate` is an aggregate whose column is known: types of its result and of its partial
// accumulators (what travels when a pre-aggregation sends accumulators instead of rows).
// `Accumulators` holds one aggregate's values for all groups of a slice, indexed by group id. One
// virtual call per batch; the loops inside are typed.
//
// Nulls are ignored; a group that saw only nulls has the result null (count: 0). NaN is greater
// than every number. Integer sums that leave 64 bits are an error or wrap around, as configured.
//
// Thread safety: none; belongs to the subtask's thread. But copy() may read some groups in another
// thread while update() and merge() change others, once prepare() was called: see slice_table.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "columnar/column.h"

namespace penstock::window {

enum class AggregateKind : uint8_t { kCountStar, kCount, kSum, kMin, kMax, kAvg };
enum class OverflowMode : uint8_t { kError, kWrap };

struct AggregateSpec {
  AggregateKind kind = AggregateKind::kCountStar;
  std::string column;  // empty for kCountStar
  std::string alias;   // the result column's name
};

struct BoundAggregate {
  AggregateKind kind = AggregateKind::kCountStar;
  OverflowMode overflow = OverflowMode::kError;
  int column_index = -1;  // in the input schema; -1: none needed
  std::string column;
  std::string alias;
  DataTypePtr input_type;  // null when there is no column
  DataTypePtr result_type;
  std::vector<DataTypePtr> partial_types;

  // "sum(price:int32):int64". Reaches snapshots: never to change.
  [[nodiscard]] std::string describe() const;
};
using BoundAggregatePtr = std::shared_ptr<const BoundAggregate>;

// "count", "sum", "min", "max", "avg"; count without a column is count(*).
Result<AggregateKind> parse_aggregate_kind(const std::string& name, bool has_column);

// kKeyError: unknown column; kTypeError: the aggregate cannot work on its type.
Result<BoundAggregate> bind_aggregate(const AggregateSpec& spec, const Schema& schema,
                                      OverflowMode overflow);

// Rows of a batch with the group of each. `rows` nullptr: row i is i.
struct GroupedRows {
  const int32_t* rows = nullptr;
  const uint32_t* groups = nullptr;
  int64_t count = 0;
};

class Accumulators {
 public:
  virtual ~Accumulators() = default;

  // Room for groups 0 .. groups-1; new ones are empty. Call before the update that mentions them.
  virtual void resize(size_t groups) = 0;
  // Does now what update(input) or merge(input) would otherwise do to more than the groups of its
  // rows. Optional.
  virtual void prepare(const Column* input) { (void)input; }
  // `input` is nullptr for count(*). REQUIRES: every group that is new since the last update occurs
  // in `rows`.
  virtual Status update(const Column* input, const GroupedRows& rows) = 0;
  // `partials`: one column per partial type. The same requirement.
  virtual Status merge(const Column* partials, const GroupedRows& rows) = 0;

  // Of groups [from, from + count).
  [[nodiscard]] virtual Result<Column> finish(size_t from, size_t count) const = 0;
  // Appends one column per partial type.
  virtual Status partials(size_t from, size_t count, std::vector<Column>* out) const = 0;

  // One group's accumulator for a snapshot. The bytes reach disk: never to change.
  virtual void serialise(size_t group, std::string* out) const = 0;
  // Takes what it needs off the front of `in`. REQUIRES: resize() was called.
  virtual Status deserialise(size_t group, std::string_view* in) = 0;

  // As deserialise(), but adds to what the group has, as merge() does. REQUIRES: every group was
  // deserialised, or merged into in this way, since it was made.
  virtual Status merge_serialised(size_t group, std::string_view* in) = 0;

  // Groups [from, from + count) as groups 0 .. count-1 of an object of their own.
  [[nodiscard]] virtual std::unique_ptr<Accumulators> copy(size_t from, size_t count) const = 0;

  virtual void clear() = 0;
  [[nodiscard]] virtual size_t bytes() const = 0;
};

// One per aggregate of a plan.
using AccumulatorSet = std::vector<std::unique_ptr<Accumulators>>;

std::unique_ptr<Accumulators> make_accumulators(const BoundAggregate& aggregate);

}  // namespace penstock::window
