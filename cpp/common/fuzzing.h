// For *_fuzz.cc files only: how a libFuzzer program says that something is wrong.
//
// A program feeds bytes to what reads bytes from disk and checks what must hold for all bytes: what
// was read and is written again is the same. Sanitizers see the rest. `make fuzz` runs them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace penstock {

// Ends the program, which libFuzzer takes for a finding, unless `holds`.
inline void must_hold(bool holds, std::string_view rule, const std::string& details = {}) {
  if (holds) return;
  std::fprintf(stderr, "broken: %.*s %s\n", static_cast<int>(rule.size()), rule.data(),
               details.c_str());
  std::abort();
}

inline std::string_view as_bytes(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace penstock
