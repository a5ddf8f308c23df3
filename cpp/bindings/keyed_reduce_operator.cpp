#include "bindings/keyed_reduce_operator.h"

#include "bindings/errors.h"
#include "bindings/rows.h"
#include "bindings/user_code.h"

namespace penstock::bindings {

namespace {

// Both reach disk: never to change.
constexpr const char* kStateName = "reduced";
constexpr const char* kValueType = "PICKLED_BYTE_ARRAY";

}  // namespace

Status KeyedReduceOperator::open(const OperatorContext& context) {
  PENSTOCK_RETURN_NOT_OK(state_.open_keyed(context, /*timers=*/false));
  StateDescriptor descriptor;
  descriptor.name = kStateName;
  descriptor.kind = StateKind::kReducing;
  descriptor.value_type = kValueType;
  PENSTOCK_ASSIGN_OR_RETURN(table_, state_->backend->value_table(descriptor));
  {
    const GilScope gil;
    PENSTOCK_ASSIGN_OR_RETURN(codec_, ValueCodec::make(kValueType));
  }
  return PythonOperator::open(context);
}

Status KeyedReduceOperator::process_batch(Batch batch, Output& output) {
  if (batch.num_rows == 0) return Status::ok();
  PENSTOCK_ASSIGN_OR_RETURN(Batch reduced, reduce(std::move(batch)));
  return output.emit(std::move(reduced));
}

Result<Batch> KeyedReduceOperator::reduce(Batch batch) {
  const GilScope gil;
  const Batch input = std::move(batch);
  PENSTOCK_ASSIGN_OR_RETURN(const Batch rows, as_rows(input));
  if (rows.keys == nullptr) {
    return Status::internal("a keyed reduce got records without keys; call key_by before");
  }
  PENSTOCK_RETURN_NOT_OK(state_->backend->prepare(*rows.keys));
  NewRows results;
  results.reserve(rows.num_rows);
  for (int64_t i = 0; i < rows.num_rows; ++i) {
    if (context_.is_cancelled()) return cancelled_in_user_code();
    const EntryKey key{rows.keys->bytes.bytes_at(i), rows.keys->hashes[static_cast<size_t>(i)], {}};
    PENSTOCK_ASSIGN_OR_RETURN(PyRef reduced, reduce_row(key, row_at(rows, i)));
    results.append(reduced.release());
  }
  Batch reduced = results.finish();
  reduced.timestamps = rows.timestamps;
  return reduced;
}

Result<PyRef> KeyedReduceOperator::reduce_row(const EntryKey& key, PyObject* row) {
  PENSTOCK_ASSIGN_OR_RETURN(const std::optional<std::string_view> stored, table_->get(key));
  PyRef reduced;
  if (stored) {
    const PyRef before = PyRef::adopt(codec_->decode_all(*stored));
    if (!before) return status_from_python_error("reading the reduced value back");
    reduced = PyRef::adopt(call_two(function_.get(), before.get(), row));
    if (!reduced) return raised_on_record("reduce function", row);
  } else {
    reduced = PyRef::share(row);
  }
  scratch_.clear();
  PENSTOCK_RETURN_NOT_OK(codec_->encode(reduced.get(), &scratch_).with_context("reduce function"));
  PENSTOCK_RETURN_NOT_OK(table_->put(key, scratch_));
  return reduced;
}

Status KeyedReduceOperator::process_watermark(Watermark watermark, Output& output) {
  if (watermark.timestamp <= state_->current_watermark) return Status::ok();
  state_->current_watermark = watermark.timestamp;
  return output.emit_watermark(watermark);
}

Status KeyedReduceOperator::close() {
  Status status = PythonOperator::close();
  const GilScope gil;
  Status closed = state_.close();
  return status.is_ok() ? closed : status;
}

}  // namespace penstock::bindings
