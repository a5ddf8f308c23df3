// Status and Result<T>: how the core reports failure. No exceptions cross a room's border.
//
// A Status is one pointer; OK is null and costs nothing to pass. A failure carries a code (which
// `bindings/errors.cpp` maps to a Python exception type), a message for people, and optionally an
// opaque cause (the user's own exception object) that the Python side chains with `raise ... from
// cause`.
//
// Thread safety: immutable after construction; copies share the state.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace penstock {

enum class StatusCode {
  kOk = 0,
  kInvalidArgument,  // a value that can never be right (ValueError)
  kTypeError,        // a value of the wrong type (TypeError)
  kKeyError,         // an unknown column or name (KeyError)
  kOverflow,         // integer overflow in an aggregate (OverflowError)
  kIoError,          // the disk said no (OSError)
  kCorruption,       // bytes that do not verify (CheckpointError)
  kNotSupported,     // a thing the engine cannot do (NotImplementedError)
  kCancelled,        // the job was cancelled (JobCancelledError)
  kUserError,        // user code raised; `cause` holds its exception (UserCodeError)
  kInternal,         // "cannot happen" (PenstockError)
};

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(StatusCode code, std::string message, std::shared_ptr<void> cause = nullptr)
      : state_(std::make_shared<State>(State{code, std::move(message), std::move(cause)})) {}

  static Status ok() { return {}; }
  static Status invalid(std::string m) { return {StatusCode::kInvalidArgument, std::move(m)}; }
  static Status type_error(std::string m) { return {StatusCode::kTypeError, std::move(m)}; }
  static Status key_error(std::string m) { return {StatusCode::kKeyError, std::move(m)}; }
  static Status overflow(std::string m) { return {StatusCode::kOverflow, std::move(m)}; }
  static Status io_error(std::string m) { return {StatusCode::kIoError, std::move(m)}; }
  static Status corruption(std::string m) { return {StatusCode::kCorruption, std::move(m)}; }
  static Status not_supported(std::string m) { return {StatusCode::kNotSupported, std::move(m)}; }
  static Status cancelled(std::string m) { return {StatusCode::kCancelled, std::move(m)}; }
  static Status internal(std::string m) { return {StatusCode::kInternal, std::move(m)}; }

  [[nodiscard]] bool is_ok() const { return state_ == nullptr; }
  [[nodiscard]] StatusCode code() const { return state_ ? state_->code : StatusCode::kOk; }
  [[nodiscard]] const std::string& message() const {
    static const std::string kEmpty;
    return state_ ? state_->message : kEmpty;
  }
  [[nodiscard]] std::shared_ptr<void> cause() const { return state_ ? state_->cause : nullptr; }

  // The same failure with `context` put before its message: "operator 'Map': ...".
  [[nodiscard]] Status with_context(const std::string& context) const {
    return is_ok() ? *this : Status(code(), context + ": " + message(), cause());
  }

 private:
  struct State {
    StatusCode code;
    std::string message;
    std::shared_ptr<void> cause;
  };
  std::shared_ptr<const State> state_;
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}          // NOLINT: implicit by design
  Result(Status status) : status_(std::move(status)) {}  // NOLINT: implicit by design
  [[nodiscard]] bool is_ok() const { return status_.is_ok(); }
  [[nodiscard]] const Status& status() const { return status_; }
  // REQUIRES: is_ok().
  T& value() & { return *value_; }
  const T& value() const& { return *value_; }
  T&& value() && { return std::move(*value_); }

 private:
  Status status_;
  std::optional<T> value_;
};

}  // namespace penstock

#define PENSTOCK_CONCAT_INNER(a, b) a##b
#define PENSTOCK_CONCAT(a, b) PENSTOCK_CONCAT_INNER(a, b)

#define PENSTOCK_RETURN_NOT_OK(expr)              \
  do {                                            \
    ::penstock::Status penstock_status_ = (expr); \
    if (!penstock_status_.is_ok()) [[unlikely]] { \
      return penstock_status_;                    \
    }                                             \
  } while (false)

#define PENSTOCK_ASSIGN_OR_RETURN_IMPL(result, lhs, expr) \
  auto result = (expr);                                   \
  if (!result.is_ok()) [[unlikely]] {                     \
    return result.status();                               \
  }                                                       \
  lhs = std::move(result).value()

#define PENSTOCK_ASSIGN_OR_RETURN(lhs, expr) \
  PENSTOCK_ASSIGN_OR_RETURN_IMPL(PENSTOCK_CONCAT(penstock_result_, __LINE__), lhs, expr)
