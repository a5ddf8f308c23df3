// For tests that compare with a model at random: how many seeds to try.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace penstock {

// `usual`, or the number in PENSTOCK_PROPERTY_SEEDS when that is greater (`make property`).
inline uint64_t property_seeds(uint64_t usual) {
  const char* const text = std::getenv("PENSTOCK_PROPERTY_SEEDS");
  return text == nullptr ? usual : std::max<uint64_t>(usual, std::strtoull(text, nullptr, 10));
}

}  // namespace penstock
