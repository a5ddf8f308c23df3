// Cell: sixteen bytes that hold a short string themselves and a longer one by pointer.
//
// What a cell holds is said by a tag that its owner keeps beside it, so that sixteen bytes fit
// inside: 0 to 16 is a length (the bytes are in the cell, zeros behind them), kBlobTag a Blob.
// Cells are plain bytes: copying one does not count a reference, cell_retain and cell_release do.
//
// A Blob's bytes are never changed while it is shared, with one exception: bytes are appended
// behind those that other cells know of. Each cell has its own length, so they do not see them;
// this needs that only one of the cells that share a blob ever appends, namely the live one.
//
// Thread safety: reference counts may be changed from any thread; a blob's bytes and a cell belong
// to one thread, or to many that only read.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>

namespace penstock {

inline constexpr uint8_t kInlineBytes = 16;
inline constexpr uint8_t kBlobTag = 0xff;

struct Blob {
  std::atomic<uint32_t> refs{1};
  uint32_t capacity = 0;

  [[nodiscard]] char* data() { return reinterpret_cast<char*>(this + 1); }
  [[nodiscard]] const char* data() const { return reinterpret_cast<const char*>(this + 1); }

  // With one reference. The capacity fills what malloc would round up to anyway.
  static Blob* make(uint64_t size) {
    const uint64_t bytes = ((size + sizeof(Blob) + 8 + 15) & ~uint64_t{15}) - 8;
    auto* const blob = new (::operator new(bytes)) Blob;
    blob->capacity = static_cast<uint32_t>(std::min<uint64_t>(bytes - sizeof(Blob), UINT32_MAX));
    return blob;
  }
  void retain() { refs.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    if (refs.fetch_sub(1, std::memory_order_acq_rel) == 1) ::operator delete(this);
  }
  [[nodiscard]] bool is_shared() const { return refs.load(std::memory_order_acquire) != 1; }
};

union Cell {
  char bytes[kInlineBytes];
  uint64_t words[2];
  struct {
    void* pointer;
    uint32_t size;
    uint32_t extra;  // the owner's
  } out;
};
static_assert(sizeof(Cell) == kInlineBytes);

inline Blob* cell_blob(const Cell& cell) { return static_cast<Blob*>(cell.out.pointer); }

inline std::string_view cell_view(const Cell& cell, uint8_t tag) {
  if (tag <= kInlineBytes) return {cell.bytes, tag};
  return {cell_blob(cell)->data(), cell.out.size};
}

inline void cell_retain(const Cell& cell, uint8_t tag) {
  if (tag == kBlobTag) cell_blob(cell)->retain();
}

inline void cell_release(const Cell& cell, uint8_t tag) {
  if (tag == kBlobTag) cell_blob(cell)->release();
}

// Copies up to 16 bytes; the rest of the cell is zero.
inline void cell_load_inline(const char* from, size_t size, Cell* cell) {
  uint64_t low = 0;
  uint64_t high = 0;
  if (size >= 8) {
    std::memcpy(&low, from, 8);
    if (size > 8) {
      // The last eight bytes overlap the first; what is known already is shifted out.
      std::memcpy(&high, from + size - 8, 8);
      high >>= 8 * (16 - size);
    }
  } else if (size >= 4) {
    uint32_t first = 0;
    uint32_t last = 0;
    std::memcpy(&first, from, 4);
    std::memcpy(&last, from + size - 4, 4);
    low = first | (static_cast<uint64_t>(last) << (8 * (size - 4)));
  } else {
    for (size_t i = 0; i < size; ++i) {
      low |= static_cast<uint64_t>(static_cast<uint8_t>(from[i])) << (8 * i);
    }
  }
  cell->words[0] = low;
  cell->words[1] = high;
}

// Fills an empty cell with the two parts, one behind the other; the new tag. Of a blob `extra` is 0.
// REQUIRES: together less than 4 GiB.
inline uint8_t cell_fill(std::string_view first, std::string_view second, Cell* cell) {
  const size_t size = first.size() + second.size();
  if (size <= kInlineBytes) {
    if (second.empty()) {
      cell_load_inline(first.data(), size, cell);
    } else {
      Cell made{.words = {0, 0}};
      if (!first.empty()) std::memcpy(made.bytes, first.data(), first.size());
      std::memcpy(made.bytes + first.size(), second.data(), second.size());
      *cell = made;
    }
    return static_cast<uint8_t>(size);
  }
  Blob* const blob = Blob::make(size);
  if (!first.empty()) std::memcpy(blob->data(), first.data(), first.size());
  if (!second.empty()) std::memcpy(blob->data() + first.size(), second.data(), second.size());
  cell->out = {blob, static_cast<uint32_t>(size), 0};
  return kBlobTag;
}

// Replaces what a cell holds; `value` may point into it. Overwrites in place what is not shared.
// REQUIRES: less than 4 GiB.
inline void cell_assign(std::string_view value, Cell* cell, uint8_t* tag) {
  if (*tag == kBlobTag && value.size() > kInlineBytes) {
    Blob* const blob = cell_blob(*cell);
    // Not into one four times too large: memory would never come back.
    if (!blob->is_shared() && value.size() <= blob->capacity &&
        blob->capacity / 4 <= value.size()) {
      std::memmove(blob->data(), value.data(), value.size());
      cell->out.size = static_cast<uint32_t>(value.size());
      return;
    }
  }
  const Cell old = *cell;
  const uint8_t old_tag = *tag;
  // A short value that points into the cell itself: cell_load_inline reads all before it writes.
  *tag = cell_fill(value, {}, cell);
  cell_release(old, old_tag);
}

// Appends the two parts, which may point into the cell. Amortised O(bytes appended), also while a
// snapshot shares the blob. REQUIRES: less than 4 GiB altogether.
inline void cell_append(std::string_view first, std::string_view second, Cell* cell, uint8_t* tag) {
  const std::string_view old = cell_view(*cell, *tag);
  const size_t size = old.size() + first.size() + second.size();
  const bool in_place = *tag == kBlobTag && size <= cell_blob(*cell)->capacity;
  Cell made{.words = {0, 0}};
  char* to = made.bytes;
  if (in_place) {
    to = cell_blob(*cell)->data();
  } else if (size > kInlineBytes) {
    const uint64_t room = old.empty() ? size : std::min<uint64_t>(2 * size, UINT32_MAX);
    made.out = {Blob::make(std::max<uint64_t>(room, size)), 0, 0};
    to = cell_blob(made)->data();
  }
  if (!in_place && !old.empty()) std::memcpy(to, old.data(), old.size());
  if (!first.empty()) std::memcpy(to + old.size(), first.data(), first.size());
  if (!second.empty()) std::memcpy(to + old.size() + first.size(), second.data(), second.size());
  if (in_place) {
    cell->out.size = static_cast<uint32_t>(size);
    return;
  }
  if (size > kInlineBytes) made.out.size = static_cast<uint32_t>(size);
  cell_release(*cell, *tag);
  *cell = made;
  *tag = size > kInlineBytes ? kBlobTag : static_cast<uint8_t>(size);
}

}  // namespace penstock
