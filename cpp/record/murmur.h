// MurmurHash3 x86 32-bit, in pieces, so that short fixed-size keys are hashed in registers.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "record/key_bytes.h"

namespace penstock::murmur {

inline uint32_t scramble(uint32_t block) {
  return std::rotl(block * 0xcc9e2d51U, 15) * 0x1b873593U;
}

inline uint32_t mix(uint32_t hash, uint32_t block) {
  return std::rotl(hash ^ scramble(block), 13) * 5U + 0xe6546b64U;
}

inline uint32_t finish(uint32_t hash, uint32_t size) {
  hash ^= size;
  hash = (hash ^ (hash >> 16)) * 0x85ebca6bU;
  hash = (hash ^ (hash >> 13)) * 0xc2b2ae35U;
  return hash ^ (hash >> 16);
}

inline uint32_t hash(const uint8_t* data, size_t size, uint32_t seed) {
  uint32_t state = seed;
  const size_t blocks = size / 4;
  for (size_t i = 0; i < blocks; ++i) {
    uint32_t block = 0;
    std::memcpy(&block, data + i * 4, 4);
    state = mix(state, block);
  }
  uint32_t tail = 0;
  for (size_t i = size & ~size_t{3}; i < size; ++i) {
    tail |= static_cast<uint32_t>(data[i]) << (8 * (i & 3));
  }
  if ((size & 3) != 0) state ^= scramble(tail);
  return finish(state, static_cast<uint32_t>(size));
}

// The hash of tag kInt followed by `value`, nine bytes: two blocks and a tail of one.
inline uint32_t hash_int64(int64_t value) {
  const uint64_t bytes = __builtin_bswap64(static_cast<uint64_t>(value) ^ kSignBit64);
  uint32_t state =
      mix(0, (static_cast<uint32_t>(bytes) << 8) | static_cast<uint32_t>(KeyTag::kInt));
  state = mix(state, static_cast<uint32_t>(bytes >> 24));
  state ^= scramble(static_cast<uint32_t>(bytes >> 56));
  return finish(state, 9);
}

// The hash of tag kDate followed by `days`, five bytes.
inline uint32_t hash_date(int32_t days) {
  const uint32_t bytes = __builtin_bswap32(static_cast<uint32_t>(days) ^ kSignBit32);
  uint32_t state = mix(0, (bytes << 8) | static_cast<uint32_t>(KeyTag::kDate));
  state ^= scramble(bytes >> 24);
  return finish(state, 5);
}

}  // namespace penstock::murmur
