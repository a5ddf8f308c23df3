// Bits in Arrow's order (least significant first), as used by validity bitmaps and bool columns.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace penstock {

inline int64_t bitmap_bytes(int64_t bits) { return (bits + 7) / 8; }

inline bool get_bit(const uint8_t* bits, int64_t i) { return ((bits[i >> 3] >> (i & 7)) & 1) != 0; }

// Only ever turns a bit on: bitmaps start zeroed.
inline void set_bit(uint8_t* bits, int64_t i) {
  bits[i >> 3] = static_cast<uint8_t>(bits[i >> 3] | (1U << (i & 7)));
}

inline int64_t count_set_bits(const uint8_t* bits, int64_t offset, int64_t count) {
  int64_t set = 0;
  int64_t i = offset;
  const int64_t end = offset + count;
  for (; i < end && (i & 7) != 0; ++i) set += get_bit(bits, i) ? 1 : 0;
  for (; i + 64 <= end; i += 64) {
    uint64_t word = 0;
    std::memcpy(&word, bits + (i >> 3), sizeof(word));
    set += std::popcount(word);
  }
  for (; i < end; ++i) set += get_bit(bits, i) ? 1 : 0;
  return set;
}

// REQUIRES: the target bits are zero.
inline void copy_bits(const uint8_t* source, int64_t source_offset, int64_t count, uint8_t* target,
                      int64_t target_offset) {
  int64_t i = 0;
  for (; i < count && ((target_offset + i) & 7) != 0; ++i) {
    if (get_bit(source, source_offset + i)) set_bit(target, target_offset + i);
  }
  const int shift = static_cast<int>((source_offset + i) & 7);
  for (; i + 8 <= count; i += 8) {
    const uint8_t* from = source + ((source_offset + i) >> 3);
    // With shift 0 the second byte may lie outside the bitmap and is not needed.
    const unsigned high = shift == 0 ? 0U : static_cast<unsigned>(from[1]) << (8 - shift);
    target[(target_offset + i) >> 3] = static_cast<uint8_t>((from[0] >> shift) | high);
  }
  for (; i < count; ++i) {
    if (get_bit(source, source_offset + i)) set_bit(target, target_offset + i);
  }
}

// Bit i of `target` becomes bit `offset + indices[i]` of `source`. Writes whole bytes, so target
// needs no zeroing.
inline void gather_bits(const uint8_t* source, int64_t offset, const int32_t* indices,
                        int64_t count, uint8_t* target) {
  for (int64_t i = 0; i < count; i += 8) {
    const int64_t in_byte = count - i < 8 ? count - i : 8;
    unsigned byte = 0;
    for (int64_t k = 0; k < in_byte; ++k) {
      byte |= static_cast<unsigned>(get_bit(source, offset + indices[i + k])) << k;
    }
    target[i >> 3] = static_cast<uint8_t>(byte);
  }
}

}  // namespace penstock
