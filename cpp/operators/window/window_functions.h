// WindowFunctions: the host of the user's code. bindings/ implements it for Python.
//
// Every call but begin() happens between begin() and end(), where the host holds whatever lock the
// objects need: once per batch or watermark, not per record. The operator emits nothing downstream
// in between.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "columnar/objects.h"
#include "common/status.h"
#include "operators/window/time_window.h"

namespace penstock::window {

class WindowFunctions {
 public:
  virtual ~WindowFunctions() = default;
  virtual void begin() = 0;
  virtual void end() = 0;

  // The accumulator after `element`. `accumulator` is nullptr for the first element of a window (a
  // reduce function's first accumulator is the element itself). Borrows both, returns a new
  // reference.
  virtual Result<ObjectPtr> add(ObjectPtr accumulator, ObjectPtr element) = 0;
  // Appends the window's results (new references). `key`: canonical key bytes, empty without keys.
  virtual Status emit(std::string_view key, const TimeWindow& window, ObjectPtr accumulator,
                      Timestamp watermark, std::vector<ObjectPtr>* out) = 0;

  virtual Result<std::string> serialise(ObjectPtr accumulator) = 0;
  // Returns a new reference.
  virtual Result<ObjectPtr> deserialise(std::string_view bytes) = 0;
  // What the accumulators are, for the snapshot's description: "pickle:reduce", ...
  [[nodiscard]] virtual std::string value_type() const = 0;
};

class FunctionsScope {
 public:
  explicit FunctionsScope(WindowFunctions* functions) : functions_(functions) {
    functions_->begin();
  }
  ~FunctionsScope() { functions_->end(); }
  FunctionsScope(const FunctionsScope&) = delete;
  FunctionsScope& operator=(const FunctionsScope&) = delete;

 private:
  WindowFunctions* functions_;
};

}  // namespace penstock::window
