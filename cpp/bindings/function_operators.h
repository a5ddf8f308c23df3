// map, filter and flat_map over Python callables: one tight loop per batch, one GIL acquisition.
//
// Batches of columns become rows first; rows go from one function to the next as they are. The GIL
// is given back before a batch is emitted, because whoever is downstream may wait.
#pragma once

#include <utility>
#include <vector>

#include "bindings/lifecycle.h"
#include "bindings/user_code.h"

namespace penstock::bindings {

class FunctionOperator : public PythonOperator {
 public:
  FunctionOperator(PyRef function, Lifecycles lifecycles)
      : PythonOperator(std::move(lifecycles)), function_(std::move(function)) {}

 protected:
  // Borrowed.
  [[nodiscard]] PyObject* function() const { return function_.get(); }

 private:
  PyRef function_;
};

// Timestamps stay with their rows.
class MapOperator final : public FunctionOperator {
 public:
  using FunctionOperator::FunctionOperator;
  Status process_batch(Batch batch, Output& output) override;

 private:
  Result<Batch> map(Batch batch);
};

// Timestamps and keys stay with their rows.
class FilterOperator final : public FunctionOperator {
 public:
  using FunctionOperator::FunctionOperator;
  Status process_batch(Batch batch, Output& output) override;

 private:
  Result<Batch> filter(Batch batch);
  Status find_kept(const Batch& rows, std::vector<int32_t>* kept);
};

// Each result has the timestamp of the row it was made of. Long results go out in several batches.
class FlatMapOperator final : public FunctionOperator {
 public:
  using FunctionOperator::FunctionOperator;
  Status process_batch(Batch batch, Output& output) override;

 private:
  // Results not sent yet.
  struct Pending {
    NewRows rows;
    std::vector<Timestamp> timestamps;
    bool timed = false;
  };
  static Batch finish(Pending* pending);
  Status flat_map(Batch batch, Output& output, Batch* last);
  Status flat_map_row(PyObject* row, Timestamp timestamp, Output& output, Pending* pending);
};

}  // namespace penstock::bindings
