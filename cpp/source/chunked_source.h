// ChunkedSource: base of sources whose row n is known by n alone (collection, Arrow data,
// generator).
//
// Rows are cut into chunks of kChunkRows; subtask i of P reads the chunks i, i+P, i+2P, ... so that
// event time goes forward evenly in all subtasks, and which subtask reads which row does not depend
// on batch sizes. A split is such a sequence of chunks with a position in it. When a checkpoint is
// read back with another parallelism the splits are dealt out anew; no row is read twice or
// skipped.
//
//   rows     0 ..... 8191 | 8192 .... 16383 | 16384 ...          P = 2
//   subtask       0       |        1        |    0    ...
#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "source/source.h"

namespace penstock {

// Reaches snapshots through positions: never to change.
inline constexpr int64_t kChunkRows = 8192;

struct ChunkSplit {
  int64_t next_chunk = 0;
  int64_t stride = 1;
  int64_t row_in_chunk = 0;
};

class ChunkedSource : public Source {
 public:
  // `total_rows` nullopt: unbounded. `rows_per_second` <= 0: no limit (of this subtask's share the
  // P-th part).
  ChunkedSource(std::optional<int64_t> total_rows, int64_t batch_rows, double rows_per_second)
      : total_rows_(total_rows), batch_rows_(batch_rows), rows_per_second_(rows_per_second) {}

  Status open(const OperatorContext& context) override;
  Result<Poll> poll(Output& output) override;
  Status snapshot(OperatorState* state) override;
  Status restore(const OperatorState& state) override;
  [[nodiscard]] bool is_live() const override { return rows_per_second_ > 0; }

 protected:
  // Rows [first, first + count) or a prefix of them (at least one row); all of one chunk.
  virtual Result<Batch> read(int64_t first, int64_t count) = 0;

 private:
  // Rows the rate allows now (at most `wanted`); 0: wait until `*wake_millis`.
  int64_t allowed_by_rate(int64_t wanted, int64_t* wake_millis);
  [[nodiscard]] bool is_done(const ChunkSplit& split) const;

  std::optional<int64_t> total_rows_;
  int64_t batch_rows_;
  double rows_per_second_;
  std::vector<ChunkSplit> splits_;
  size_t current_ = 0;
  // Rate limiting: rows emitted since `rate_start_`.
  int64_t emitted_ = 0;
  std::optional<std::chrono::steady_clock::time_point> rate_start_;
};

}  // namespace penstock
