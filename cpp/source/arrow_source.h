// Arrow data in memory as a source: zero-copy slices of the record batches it was given.
#pragma once

#include <memory>
#include <vector>

#include "source/chunked_source.h"

namespace penstock {

// The batches of a table, shared by all subtasks.
class ArrowTable {
 public:
  explicit ArrowTable(std::vector<Batch> batches);
  [[nodiscard]] int64_t num_rows() const { return starts_.back(); }
  // Rows [first, first + count) cut at the end of the record batch that holds `first`.
  [[nodiscard]] Batch read(int64_t first, int64_t count) const;

 private:
  std::vector<Batch> batches_;   // none empty
  std::vector<int64_t> starts_;  // first row of each batch, then the total
};

class ArrowSource final : public ChunkedSource {
 public:
  ArrowSource(std::shared_ptr<const ArrowTable> table, int64_t batch_rows)
      : ChunkedSource(table->num_rows(), batch_rows, 0), table_(std::move(table)) {}

 protected:
  Result<Batch> read(int64_t first, int64_t count) override { return table_->read(first, count); }

 private:
  std::shared_ptr<const ArrowTable> table_;
};

// Python objects in memory as a source: slices of one vector of objects.
class ObjectSource final : public ChunkedSource {
 public:
  ObjectSource(ObjectColumn objects, int64_t batch_rows)
      : ChunkedSource(objects.length, batch_rows, 0), objects_(std::move(objects)) {}

 protected:
  Result<Batch> read(int64_t first, int64_t count) override {
    return make_rows(objects_.slice(first, count));
  }

 private:
  ObjectColumn objects_;
};

}  // namespace penstock
