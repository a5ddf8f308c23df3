// Operators over whole batches of columns: functions of a pyarrow.RecordBatch, and rows to columns.
#pragma once

#include <pybind11/pybind11.h>

#include <utility>

#include "bindings/gil.h"
#include "operators/operator.h"

namespace penstock::bindings {

// The batch as a pyarrow.RecordBatch that shares its buffers. REQUIRES: the GIL, columns.
Result<pybind11::object> record_batch_of(const Batch& batch);

// function(RecordBatch) -> RecordBatch of as many rows; timestamps and keys stay.
class ArrowMapOperator final : public Operator {
 public:
  explicit ArrowMapOperator(PyRef function) : function_(std::move(function)) {}
  Status process_batch(Batch batch, Output& output) override;

 private:
  Result<Batch> map(Batch batch);
  PyRef function_;
};

// function(RecordBatch) -> BooleanArray; keeps the rows where it is true (null: not).
class ArrowFilterOperator final : public Operator {
 public:
  explicit ArrowFilterOperator(PyRef function) : function_(std::move(function)) {}
  Status process_batch(Batch batch, Output& output) override;

 private:
  Result<Column> mask_of(const Batch& batch);
  PyRef function_;
};

// Rows to columns of a pyarrow.Schema; columns pass through.
class RowsToColumnsOperator final : public Operator {
 public:
  explicit RowsToColumnsOperator(PyRef schema) : schema_(std::move(schema)) {}
  Status process_batch(Batch batch, Output& output) override;

 private:
  Result<Batch> convert(Batch batch);
  PyRef schema_;
};

}  // namespace penstock::bindings
