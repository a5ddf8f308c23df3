#include "bindings/key_selector.h"

#include <memory>

#include "bindings/errors.h"
#include "bindings/key_codec.h"
#include "bindings/rows.h"
#include "bindings/user_code.h"
#include "columnar/builder.h"
#include "record/key_encoding.h"

namespace penstock::bindings {

namespace {

// Encodes keys one by one. REQUIRES: the GIL.
class KeyEncoder {
 public:
  explicit KeyEncoder(int64_t count) {
    bytes_.reserve(count, count * 12);
    hashes_.reserve(static_cast<size_t>(count));
  }
  // The parts of one key, then next().
  void begin_tuple(size_t size) { encode_tuple_header(size, &scratch_); }
  Status append(PyObject* part, PyObject* record) {
    const Status status = encode_object_key(part, &scratch_);
    if (status.is_ok()) return status;
    return status.with_context("the key of record " + record_repr(record));
  }
  void next() {
    bytes_.append(scratch_);
    hashes_.push_back(murmur3_32(scratch_.data(), scratch_.size()));
    scratch_.clear();
  }
  Result<EncodedKeys> finish() {
    PENSTOCK_ASSIGN_OR_RETURN(Column bytes, bytes_.finish());
    return EncodedKeys{std::move(bytes), std::move(hashes_)};
  }

 private:
  std::string scratch_;
  BinaryBuilder bytes_{binary()};
  std::vector<uint32_t> hashes_;
};

Result<std::vector<PyRef>> python_names(const std::vector<std::string>& names) {
  std::vector<PyRef> out;
  for (const std::string& name : names) {
    PyObject* text = PyUnicode_FromStringAndSize(name.data(), static_cast<Py_ssize_t>(name.size()));
    if (text == nullptr) return status_from_python_error("key column");
    out.push_back(PyRef::adopt(text));
  }
  return out;
}

}  // namespace

Status FunctionKeySelector::process_batch(Batch batch, Output& output) {
  if (batch.num_rows == 0) return Status::ok();
  PENSTOCK_ASSIGN_OR_RETURN(Batch keyed, attach_keys(std::move(batch)));
  return output.emit(std::move(keyed));
}

Result<Batch> FunctionKeySelector::attach_keys(Batch batch) {
  const GilScope gil;
  const Batch input = std::move(batch);
  PENSTOCK_ASSIGN_OR_RETURN(Batch rows, as_rows(input));
  KeyEncoder encoder(rows.num_rows);
  for (int64_t i = 0; i < rows.num_rows; ++i) {
    if (context_.is_cancelled()) return cancelled_in_user_code();
    PyObject* const row = row_at(rows, i);
    const PyRef key = PyRef::adopt(call_one(function_.get(), row));
    if (!key) return raised_on_record("key selector", row);
    PENSTOCK_RETURN_NOT_OK(encoder.append(key.get(), row));
    encoder.next();
  }
  PENSTOCK_ASSIGN_OR_RETURN(EncodedKeys keys, encoder.finish());
  rows.keys = std::make_shared<const EncodedKeys>(std::move(keys));
  return rows;
}

Status ColumnKeySelector::process_batch(Batch batch, Output& output) {
  if (batch.num_rows == 0) return Status::ok();
  PENSTOCK_ASSIGN_OR_RETURN(EncodedKeys keys,
                            batch.is_columnar() ? keys_of_columns(batch) : keys_of_rows(batch));
  batch.keys = std::make_shared<const EncodedKeys>(std::move(keys));
  return output.emit(std::move(batch));
}

Result<EncodedKeys> ColumnKeySelector::keys_of_columns(const Batch& batch) const {
  std::vector<Column> columns;
  for (const std::string& name : names_) {
    const int index = batch.schema->index_of(name);
    if (index < 0) return Status::key_error("no column '" + name + "' to take keys from");
    columns.push_back(batch.columns[static_cast<size_t>(index)]);
  }
  return encode_keys(columns, batch.num_rows);
}

Result<EncodedKeys> ColumnKeySelector::keys_of_rows(const Batch& batch) const {
  const GilScope gil;
  PENSTOCK_ASSIGN_OR_RETURN(const std::vector<PyRef> names, python_names(names_));
  KeyEncoder encoder(batch.num_rows);
  for (int64_t i = 0; i < batch.num_rows; ++i) {
    PyObject* const row = row_at(batch, i);
    if (names.size() > 1) encoder.begin_tuple(names.size());
    for (const PyRef& name : names) {
      const PyRef part = PyRef::adopt(PyObject_GetItem(row, name.get()));
      if (!part) return raised_on_record("looking up the key", row);
      PENSTOCK_RETURN_NOT_OK(encoder.append(part.get(), row));
    }
    encoder.next();
  }
  return encoder.finish();
}

}  // namespace penstock::bindings
