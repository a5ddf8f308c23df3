// TierRecords: entries of a table in memory, one layer of the write-back tier. Open addressing over
// records in an arena: 8 bytes of index, 24 of header, key and value.
//
// A record says what is known of an entry: its value, or that there is none; whether the database
// knows that (clean) or has to be told (dirty); of a list perhaps only what is to be appended to it
// (partial). A record keeps its address while its value fits.
//
// Thread safety: none while it is changed. A layer that is frozen is not, and may be read by several
// threads.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace penstock {

struct TierRecord {
  enum Flag : uint8_t { kDirty = 1, kAbsent = 2, kPartial = 4 };

  uint32_t hash = 0;
  uint32_t key_size = 0;
  uint32_t value_size = 0;
  uint32_t value_capacity = 0;
  // So many bytes at the beginning of a list are in the database or on the way to it.
  uint32_t clean_size = 0;
  uint8_t flags = 0;

  [[nodiscard]] bool has(Flag flag) const { return (flags & flag) != 0; }
  [[nodiscard]] char* key_data() { return reinterpret_cast<char*>(this + 1); }
  [[nodiscard]] char* value_data() { return key_data() + key_size; }
  [[nodiscard]] std::string_view key() const {
    return {reinterpret_cast<const char*>(this + 1), key_size};
  }
  [[nodiscard]] std::string_view value() const {
    return {reinterpret_cast<const char*>(this + 1) + key_size, value_size};
  }
};

class TierRecords {
 public:
  // With room in the index for so many.
  explicit TierRecords(size_t expected = 0);
  TierRecords(const TierRecords&) = delete;
  TierRecords& operator=(const TierRecords&) = delete;

  [[nodiscard]] size_t size() const { return size_; }
  [[nodiscard]] size_t memory_bytes() const { return arena_bytes_ + slots_.size() * 8; }
  [[nodiscard]] size_t used_bytes() const { return used_bytes_ + size_ * 8; }

  // nullptr when there is none.
  [[nodiscard]] TierRecord* find(uint32_t hash, std::string_view key) const;
  // REQUIRES: there is none with that key. The record has no value and no flags.
  TierRecord* insert(uint32_t hash, std::string_view key, size_t value_capacity);
  // `value` may be the record's own or part of it. The record, elsewhere if it had to grow.
  TierRecord* set_value(TierRecord* record, std::string_view value);
  TierRecord* append(TierRecord* record, std::string_view bytes);

  void prefetch(uint32_t hash) const { __builtin_prefetch(&slots_[hash_slot(hash)]); }

  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (const uint64_t slot : slots_) {
      if (slot != 0) visit(*record_of(slot));
    }
  }

 private:
  // The upper 16 bits of the hash and the 48 bits that an address has.
  static constexpr int kAddressBits = 48;
  static TierRecord* record_of(uint64_t slot) {
    return reinterpret_cast<TierRecord*>(slot & ((uint64_t{1} << kAddressBits) - 1));
  }
  static uint64_t slot_of(const TierRecord* record) {
    return reinterpret_cast<uint64_t>(record) | static_cast<uint64_t>(record->hash >> 16)
                                                    << kAddressBits;
  }
  // Key groups are the hash modulo some number: the lower bits alone would say little.
  [[nodiscard]] size_t hash_slot(uint32_t hash) const {
    return static_cast<size_t>((hash * 0x9E3779B97F4A7C15ULL) >> shift_);
  }
  TierRecord* allocate(size_t bytes);
  TierRecord* grow(TierRecord* record, size_t capacity);
  void resize_index(size_t slots);

  std::vector<uint64_t> slots_;
  int shift_ = 0;
  size_t size_ = 0;
  std::vector<std::unique_ptr<char[]>> chunks_;
  char* next_ = nullptr;
  size_t left_ = 0;
  size_t arena_bytes_ = 0;
  size_t used_bytes_ = 0;
};

// The hash of an entry within a table: that of its key, with the rest of the bytes mixed in.
inline uint32_t mix_hash(uint32_t hash, std::string_view more) {
  uint64_t mixed = hash;
  while (more.size() >= 8) {
    uint64_t word = 0;
    std::memcpy(&word, more.data(), 8);
    mixed = (mixed ^ word) * 0x9E3779B97F4A7C15ULL;
    mixed ^= mixed >> 29;
    more.remove_prefix(8);
  }
  uint64_t word = more.size();
  if (!more.empty()) std::memcpy(reinterpret_cast<char*>(&word) + 1, more.data(), more.size());
  mixed = (mixed ^ word) * 0x9E3779B97F4A7C15ULL;
  return static_cast<uint32_t>(mixed >> 32);
}

}  // namespace penstock
