#include "bindings/python_sinks.h"

#include <string_view>

#include "bindings/arrow_operators.h"
#include "bindings/errors.h"
#include "bindings/rows.h"
#include "bindings/user_code.h"

namespace py = pybind11;

namespace penstock::bindings {

namespace {

// "surrogatepass", so that what str() gave is written exactly.
bool append_utf8(PyObject* text, std::string* out) {
  Py_ssize_t size = 0;
  const char* bytes = PyUnicode_AsUTF8AndSize(text, &size);
  if (bytes != nullptr) {
    out->append(bytes, static_cast<size_t>(size));
    return true;
  }
  PyErr_Clear();
  const PyRef encoded = PyRef::adopt(PyUnicode_AsEncodedString(text, "utf-8", "surrogatepass"));
  if (!encoded) return false;
  out->append(PyBytes_AS_STRING(encoded.get()),
              static_cast<size_t>(PyBytes_GET_SIZE(encoded.get())));
  return true;
}

}  // namespace

Status BatchSink::process_batch(Batch batch, Output& output) {
  (void)output;
  if (batch.num_rows == 0) return Status::ok();
  const GilScope gil;
  const Batch input = std::move(batch);
  if (!input.is_columnar()) return Status::type_error("a sink of Arrow batches got rows");
  PENSTOCK_ASSIGN_OR_RETURN(const py::object argument, record_batch_of(input));
  const PyRef result = PyRef::adopt(call_one(function(), argument.ptr()));
  if (result) return Status::ok();
  return status_from_python_error("sink function raised on a batch of " +
                                  std::to_string(input.num_rows) + " records");
}

Status FunctionSink::process_batch(Batch batch, Output& output) {
  (void)output;
  if (batch.num_rows == 0) return Status::ok();
  const GilScope gil;
  const Batch input = std::move(batch);
  PENSTOCK_ASSIGN_OR_RETURN(const Batch rows, as_rows(input));
  for (int64_t i = 0; i < rows.num_rows; ++i) {
    if (context_.is_cancelled()) return cancelled_in_user_code();
    PyObject* const row = row_at(rows, i);
    PyObject* const result = call_one(function(), row);
    if (result == nullptr) return raised_on_record("sink function", row);
    Py_DECREF(result);
  }
  return Status::ok();
}

Status PrintSink::open(const OperatorContext& context) {
  PENSTOCK_RETURN_NOT_OK(Operator::open(context));
  line_start_ = prefix_;
  if (context_.parallelism > 1) {
    line_start_ += (prefix_.empty() ? "" : ":") + std::to_string(context_.subtask + 1);
  }
  if (!line_start_.empty()) line_start_ += "> ";
  return Status::ok();
}

Status PrintSink::process_batch(Batch batch, Output& output) {
  (void)output;
  if (batch.num_rows == 0) return Status::ok();
  const GilScope gil;
  const Batch input = std::move(batch);
  PENSTOCK_ASSIGN_OR_RETURN(const std::string lines, lines_of(input));
  return write(lines);
}

Result<std::string> PrintSink::lines_of(const Batch& batch) const {
  PENSTOCK_ASSIGN_OR_RETURN(const Batch rows, as_rows(batch));
  std::string lines;
  for (int64_t i = 0; i < rows.num_rows; ++i) {
    PyObject* const row = row_at(rows, i);
    lines += line_start_;
    const PyRef text = PyRef::adopt(PyObject_Str(row));
    if (!text || !append_utf8(text.get(), &lines)) return raised_on_record("print", row);
    lines += '\n';
  }
  return lines;
}

// One write per batch: lines of several subtasks do not get mixed up.
Status PrintSink::write(const std::string& lines) const {
  const PyRef stream = PyRef::share(PySys_GetObject(to_stderr_ ? "stderr" : "stdout"));
  if (!stream || stream.get() == Py_None) return Status::ok();  // a program without a console
  const PyRef text = PyRef::adopt(
      PyUnicode_DecodeUTF8(lines.data(), static_cast<Py_ssize_t>(lines.size()), "surrogatepass"));
  const PyRef written =
      PyRef::adopt(text ? PyObject_CallMethod(stream.get(), "write", "(O)", text.get()) : nullptr);
  const PyRef flushed =
      PyRef::adopt(written ? PyObject_CallMethod(stream.get(), "flush", nullptr) : nullptr);
  return flushed ? Status::ok() : status_from_python_error("print");
}

}  // namespace penstock::bindings
