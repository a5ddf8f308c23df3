#include "bindings/rows_host.h"

#include "bindings/rows.h"

namespace penstock::bindings {

namespace {

Result<Batch> convert(Batch batch) {
  if (!batch.is_columnar()) return batch;
  const GilScope gil;
  return as_rows(batch);
}

}  // namespace

Status RowsHost::process_batch(Batch batch, Output& output) {
  PENSTOCK_ASSIGN_OR_RETURN(Batch rows, convert(std::move(batch)));
  return guest_->process_batch(std::move(rows), output);
}

Status RowsHost::close() {
  const Status status = guest_->close();
  const Status closed = PythonOperator::close();  // in any case
  return status.is_ok() ? closed : status;
}

}  // namespace penstock::bindings
