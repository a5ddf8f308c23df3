#include "operators/window/text_hash.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <unordered_set>

namespace penstock::window {
namespace {

std::string random_text(std::mt19937* random, size_t size) {
  std::string text(size, '\0');
  for (char& c : text) c = static_cast<char>((*random)() & 0xFF);
  return text;
}

TEST(TextHash, DoesNotDependOnWhereTheBytesLie) {
  std::mt19937 random(1);
  for (size_t size = 0; size < 40; ++size) {
    const std::string text = random_text(&random, size);
    for (size_t shift = 0; shift < 8; ++shift) {
      const std::string moved = random_text(&random, shift) + text + random_text(&random, 3);
      const std::string_view view = std::string_view(moved).substr(shift, size);
      EXPECT_EQ(hash_text(view), hash_text(text));
      EXPECT_TRUE(equal_text(view, text));
    }
  }
}

TEST(TextHash, EveryByteCounts) {
  std::mt19937 random(2);
  for (size_t size = 1; size < 40; ++size) {
    const std::string text = random_text(&random, size);
    for (size_t i = 0; i < size; ++i) {
      std::string other = text;
      other[i] = static_cast<char>(other[i] ^ (1 << (random() % 8)));
      EXPECT_NE(hash_text(other), hash_text(text)) << size << " bytes, byte " << i;
      EXPECT_FALSE(equal_text(other, text));
    }
  }
}

TEST(TextHash, LengthCounts) {
  std::unordered_set<uint32_t> hashes;
  for (size_t size = 0; size < 100; ++size) hashes.insert(hash_text(std::string(size, '\0')));
  EXPECT_EQ(hashes.size(), 100U);
  EXPECT_FALSE(equal_text("", std::string_view("\0", 1)));
}

TEST(TextHash, NumberedNamesCollideNoMoreThanChance) {
  std::unordered_set<uint32_t> hashes;
  const size_t count = 200'000;
  for (size_t i = 0; i < count; ++i) hashes.insert(hash_text("campaign-" + std::to_string(i)));
  // By chance about count^2 / 2^33 = 4.7 pairs meet.
  EXPECT_GT(hashes.size(), count - 30);
}

}  // namespace
}  // namespace penstock::window
