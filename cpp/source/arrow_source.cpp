#include "source/arrow_source.h"

#include <algorithm>

namespace penstock {

ArrowTable::ArrowTable(std::vector<Batch> batches) {
  int64_t rows = 0;
  for (Batch& batch : batches) {
    if (batch.num_rows == 0) continue;
    starts_.push_back(rows);
    rows += batch.num_rows;
    batches_.push_back(std::move(batch));
  }
  starts_.push_back(rows);
}

Batch ArrowTable::read(int64_t first, int64_t count) const {
  const auto next = std::upper_bound(starts_.begin(), starts_.end(), first);
  const auto index = static_cast<size_t>(next - starts_.begin()) - 1;
  const int64_t from = first - starts_[index];
  const Batch& batch = batches_[index];
  return batch.slice(from, std::min(count, batch.num_rows - from));
}

}  // namespace penstock
