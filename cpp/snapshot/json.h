// The little JSON that checkpoint metadata needs: null, true, false, 64-bit integers, strings,
// arrays, objects. Fractions are refused: nothing in the metadata is one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "common/status.h"

namespace penstock {

class Json {
 public:
  using Array = std::vector<Json>;
  using Object = std::vector<std::pair<std::string, Json>>;  // in the order of the text

  Json() = default;                                        // null
  Json(bool value) : value_(value) {}                      // NOLINT: implicit by design
  Json(int64_t value) : value_(value) {}                   // NOLINT: implicit by design
  Json(int32_t value) : value_(int64_t{value}) {}          // NOLINT: implicit by design
  Json(std::string value) : value_(std::move(value)) {}    // NOLINT: implicit by design
  Json(const char* value) : value_(std::string(value)) {}  // NOLINT: implicit by design
  Json(Array value) : value_(std::move(value)) {}          // NOLINT: implicit by design
  Json(Object value) : value_(std::move(value)) {}         // NOLINT: implicit by design

  // kCorruption with the position of the first mistake.
  static Result<Json> parse(std::string_view text);
  [[nodiscard]] std::string dump() const;

  // The member of an object; nullptr when there is none or this is no object.
  [[nodiscard]] const Json* find(std::string_view name) const;
  // kCorruption naming `name` when the member is missing or of another type.
  Result<int64_t> get_int(std::string_view name) const;
  Result<int32_t> get_int32(std::string_view name) const;
  Result<bool> get_bool(std::string_view name) const;
  Result<std::string> get_string(std::string_view name) const;
  Result<const Array*> get_array(std::string_view name) const;

 private:
  std::variant<std::monostate, bool, int64_t, std::string, Array, Object> value_;
};

}  // namespace penstock
