// Event times from a Python function(value, previous_timestamp) -> milliseconds.
#pragma once

#include <utility>

#include "bindings/user_code.h"
#include "source/timestamps_operator.h"

namespace penstock::bindings {

class PythonTimestamps final : public TimestampExtractor {
 public:
  explicit PythonTimestamps(PyRef function) : function_(std::move(function)) {}
  // Without a timestamp so far, the previous one is Flink's Long.MIN_VALUE. kTypeError naming the
  // record when the function returns no int.
  Result<Column> extract(const Batch& batch) override;
  CancelFlag* cancel_flag() { return &cancelled_; }

 private:
  PyRef function_;
  CancelFlag cancelled_;
};

}  // namespace penstock::bindings
