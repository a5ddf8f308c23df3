#include "snapshot/crc32c.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>

#include "snapshot/bytes.h"

namespace penstock {
namespace {

// RFC 3720, appendix B.4.
TEST(Crc32c, PublishedVectors) {
  std::string rising;
  for (int i = 0; i < 32; ++i) rising.push_back(static_cast<char>(i));
  const std::string falling(rising.rbegin(), rising.rend());
  for (auto* function : {&crc32c, &crc32c_software}) {
    EXPECT_EQ(function("", 0), 0u);
    EXPECT_EQ(function("123456789", 0), 0xe3069283u);
    EXPECT_EQ(function(std::string(32, '\0'), 0), 0x8a9136aau);
    EXPECT_EQ(function(std::string(32, '\xff'), 0), 0x62a8ab43u);
    EXPECT_EQ(function(rising, 0), 0x46dd794eu);
    EXPECT_EQ(function(falling, 0), 0x113fdb5cu);
  }
}

TEST(Crc32c, InstructionAndTablesAgreeAndPartsAddUp) {
  std::mt19937 random(1);
  std::string bytes(300, '\0');
  for (char& c : bytes) c = static_cast<char>(random());
  for (size_t size = 0; size < bytes.size(); ++size) {
    const std::string_view text(bytes.data(), size);
    const size_t cut = size == 0 ? 0 : random() % size;
    const uint32_t whole = crc32c(text);
    EXPECT_EQ(crc32c_software(text), whole);
    EXPECT_EQ(crc32c(text.substr(cut), crc32c(text.substr(0, cut))), whole);
    EXPECT_EQ(crc32c_software(text.substr(cut), crc32c_software(text.substr(0, cut))), whole);
  }
}

// What masking is for: the plain checksum of a part hides the part from the whole's checksum.
TEST(Crc32c, BytesThatEndInTheirMaskedChecksumStillDiffer) {
  std::set<uint32_t> plain;
  std::set<uint32_t> masked;
  for (const std::string part : {"a", "b", "c", "d", "e", "f", "g", "h"}) {
    std::string with_plain = part;
    put_u32(&with_plain, crc32c(part));
    plain.insert(crc32c(with_plain));
    std::string with_masked = part;
    put_u32(&with_masked, mask_crc32c(crc32c(part)));
    masked.insert(crc32c(with_masked));
  }
  EXPECT_EQ(plain.size(), 1u);
  EXPECT_EQ(masked.size(), 8u);
  // The mask of Snappy's framing format.
  EXPECT_EQ(mask_crc32c(0), 0xa282ead8u);
  EXPECT_EQ(mask_crc32c(0xe3069283), 0xc78ab0e5u);
}

}  // namespace
}  // namespace penstock
