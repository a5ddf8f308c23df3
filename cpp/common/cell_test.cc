#include "common/cell.h"

#include <gtest/gtest.h>

#include <string>

namespace penstock {

namespace {

// A cell with its tag, released at the end.
struct Held {
  Cell cell{.words = {0, 0}};
  uint8_t tag = 0;
  Held() = default;
  Held(const Held& other) : cell(other.cell), tag(other.tag) { cell_retain(cell, tag); }
  Held& operator=(const Held&) = delete;
  ~Held() { cell_release(cell, tag); }
  [[nodiscard]] std::string text() const { return std::string(cell_view(cell, tag)); }
  void assign(std::string_view value) { cell_assign(value, &cell, &tag); }
  void append(std::string_view first, std::string_view second) {
    cell_append(first, second, &cell, &tag);
  }
};

std::string letters(size_t size) {
  std::string text;
  for (size_t i = 0; i < size; ++i) text.push_back(static_cast<char>('a' + i % 26));
  return text;
}

}  // namespace

TEST(CellTest, SixteenBytesFitInside) {
  for (size_t size = 0; size <= 40; ++size) {
    Held held;
    held.assign(letters(size));
    EXPECT_EQ(held.text(), letters(size));
    EXPECT_EQ(held.tag, size <= 16 ? size : kBlobTag);
  }
}

TEST(CellTest, BehindShortBytesAreZeros) {
  for (size_t size = 0; size <= 16; ++size) {
    for (size_t first = 0; first <= size; ++first) {
      Cell cell{.words = {~0ULL, ~0ULL}};
      const std::string text = letters(size);
      cell_fill(text.substr(0, first), text.substr(first), &cell);
      EXPECT_EQ(std::string(cell.bytes, 16), text + std::string(16 - size, '\0'));
    }
  }
}

TEST(CellTest, ACopyKeepsItsBytesWhenTheOriginalIsOverwritten) {
  Held held;
  held.assign(letters(100));
  const Held copy = held;
  held.assign(std::string(100, '-'));
  EXPECT_EQ(copy.text(), letters(100));
  EXPECT_EQ(held.text(), std::string(100, '-'));
}

TEST(CellTest, ACopyKeepsItsBytesWhenTheOriginalIsAppendedTo) {
  Held held;
  std::string expected;
  std::vector<std::pair<std::string, Held>> copies;
  copies.reserve(200);
  for (int i = 0; i < 200; ++i) {
    held.append(letters(static_cast<size_t>(i % 9)), "|");
    expected += letters(static_cast<size_t>(i % 9)) + "|";
    copies.emplace_back(expected, held);
  }
  for (const auto& [text, copy] : copies) EXPECT_EQ(copy.text(), text);
}

TEST(CellTest, AppendingToASharedBlobWithRoomCopiesNothing) {
  Held held;
  for (int i = 0; i < 20; ++i) held.append("abc", {});
  ASSERT_GE(cell_blob(held.cell)->capacity, held.text().size() + 3);
  const Blob* const blob = cell_blob(held.cell);
  const Held copy = held;
  held.append("abc", {});
  EXPECT_EQ(cell_blob(held.cell), blob);
  EXPECT_EQ(copy.text().size() + 3, held.text().size());
}

TEST(CellTest, WhatIsAssignedOrAppendedMayBePartOfTheCell) {
  for (const size_t size : {5U, 16U, 30U, 300U}) {
    Held held;
    held.assign(letters(size));
    held.assign(cell_view(held.cell, held.tag).substr(1));
    EXPECT_EQ(held.text(), letters(size).substr(1));
    for (int i = 0; i < 5; ++i) {
      const std::string before = held.text();
      const std::string_view view = cell_view(held.cell, held.tag);
      held.append(view.substr(1), view.substr(0, 2));
      EXPECT_EQ(held.text(), before + before.substr(1) + before.substr(0, 2));
    }
    held.assign(cell_view(held.cell, held.tag).substr(3, 4));
    EXPECT_EQ(held.text().size(), std::min<size_t>(4, held.text().size()));
  }
}

TEST(CellTest, AMuchShorterValueDoesNotKeepALargeBlob) {
  Held held;
  held.assign(letters(100000));
  held.assign(letters(100));
  EXPECT_LT(cell_blob(held.cell)->capacity, 1000U);
}

}  // namespace penstock
