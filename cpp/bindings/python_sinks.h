// Sinks that end in Python: a function per batch or per element, and printing.
#pragma once

#include <string>
#include <utility>

#include "bindings/function_operators.h"

namespace penstock::bindings {

// function(pyarrow.RecordBatch) per batch.
class BatchSink final : public FunctionOperator {
 public:
  using FunctionOperator::FunctionOperator;
  Status process_batch(Batch batch, Output& output) override;
};

// function(element) per element.
class FunctionSink final : public FunctionOperator {
 public:
  using FunctionOperator::FunctionOperator;
  Status process_batch(Batch batch, Output& output) override;
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
