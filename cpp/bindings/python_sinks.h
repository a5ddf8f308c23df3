// Sinks that end in Python: a function per batch, and printing.
#pragma once

#include <string>
#include <utility>

#include "bindings/lifecycle.h"

namespace penstock::bindings {

// function(list of elements) with `rows`, else function(pyarrow.RecordBatch).
class BatchSink final : public PythonOperator {
 public:
  BatchSink(PyRef function, bool rows, Lifecycles lifecycles)
      : PythonOperator(std::move(lifecycles)), function_(std::move(function)), rows_(rows) {}
  Status process_batch(Batch batch, Output& output) override;

 private:
  PyRef function_;
  bool rows_;
};

// Writes each element's str() as a line to Python's sys.stdout or sys.stderr, whatever they are at
// that moment. As in Flink, "prefix> value", or with several subtasks "prefix:N> value" and "N>
// value", counted from 1.
class PrintSink final : public Operator {
 public:
  PrintSink(std::string prefix, bool to_stderr)
      : prefix_(std::move(prefix)), to_stderr_(to_stderr) {}
  Status open(const OperatorContext& context) override;
  Status process_batch(Batch batch, Output& output) override;

 private:
  Result<std::string> lines_of(const Batch& batch) const;
  [[nodiscard]] Status write(const std::string& lines) const;

  std::string prefix_;
  bool to_stderr_;
  std::string line_start_;
};

}  // namespace penstock::bindings
