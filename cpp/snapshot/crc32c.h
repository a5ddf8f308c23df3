// CRC-32C (Castagnoli polynomial, reflected), the checksum of every snapshot file. Uses the SSE4.2
// instruction where the processor has it. The values reach disk: never to change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace penstock {

// The checksum of A followed by B is crc32c(B, crc32c(A)).
uint32_t crc32c(std::string_view bytes, uint32_t crc_before = 0);

// How a checksum is stored inside a file: rotated, and a constant added. CRC is linear: over bytes
// that end in their own plain checksum it is the same whatever the bytes are, so the checksum of a
// whole file made of such parts would say nothing about its contents.
constexpr uint32_t mask_crc32c(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8U; }

// The table-driven form, whatever the processor has. For tests and other architectures.
uint32_t crc32c_software(std::string_view bytes, uint32_t crc_before = 0);

}  // namespace penstock
