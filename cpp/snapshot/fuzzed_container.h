// For fuzzing: lets damaged bytes past the checksums, so that what stands behind them is reached.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "snapshot/bytes.h"
#include "snapshot/container.h"
#include "snapshot/crc32c.h"

namespace penstock {

// The container whose sections are those of `bytes`, as far as they can be made out, with all
// checksums and the end marker right. Bytes that are a container come back unchanged.
inline std::string repair_container(std::string_view bytes, ContainerKind kind) {
  constexpr size_t kHeaderSize = 20;
  std::string out(kContainerMagic);
  put_u32(&out, kFormatVersion);
  put_u32(&out, static_cast<uint32_t>(kind));
  put_u32(&out, mask_crc32c(crc32c(out)));
  const auto add = [&](uint32_t type, std::string_view payload) {
    std::string section;
    put_u32(&section, type);
    put_u64(&section, payload.size());
    section.append(payload);
    put_u32(&section, mask_crc32c(crc32c(section)));
    out.append(section);
  };
  ByteReader reader(bytes.substr(std::min(kHeaderSize, bytes.size())));
  uint32_t count = 0;
  uint32_t type = 0;
  uint64_t length = 0;
  while (reader.get_u32(&type) && reader.get_u64(&length) && type != kEndSection) {
    std::string_view payload;
    uint32_t checksum = 0;
    (void)reader.get_raw(std::min<uint64_t>(length, reader.rest().size()), &payload);
    (void)reader.get_u32(&checksum);
    add(type, payload);
    ++count;
  }
  std::string end;
  put_u32(&end, count);
  add(kEndSection, end);
  return out;
}

}  // namespace penstock
