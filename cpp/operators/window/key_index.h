// Open-addressing indexes from the keys of a batch to dense group ids 0, 1, 2 ... in order of first
// sight.
//
// Int64KeyIndex: keys of every integer-like type, widened. A slot is {key, id}, so a hit costs one
// cache line. BytesKeyIndex: byte strings (text, or canonical key bytes), kept in one arena; a slot
// is {hash, id}. In both, null is a group of its own that no slot leads to.
//
// Both probe linearly, work on a whole batch per call and fetch the slot of a row some rows ahead
// once the table is larger than the caches near the core. Slots hold their table's ids; the hash is
// internal and reaches no snapshot.
//
// Thread safety: none; belongs to the subtask's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "operators/window/huge_vector.h"
#include "operators/window/text_hash.h"

namespace penstock::window {

inline constexpr uint32_t kNoGroup = UINT32_MAX;
// How many rows ahead the slot is fetched, and from which table size on that pays.
inline constexpr int64_t kPrefetchDistance = 16;
inline constexpr size_t kPrefetchBytes = 512 * 1024;

class Int64KeyIndex {
 public:
  Int64KeyIndex() { allocate(kInitialBits); }

  // ids[i] = group of keys[i]. `is_null` (one byte per row, may be nullptr): those rows share one
  // group of their own.
  void resolve(const int64_t* keys, const uint8_t* is_null, int64_t count, uint32_t* ids);

  [[nodiscard]] size_t size() const { return keys_.size(); }
  // By group id; the null group's entry is 0.
  [[nodiscard]] const int64_t* keys() const { return keys_.data(); }
  // kNoGroup when no null key was seen.
  [[nodiscard]] uint32_t null_group() const { return null_group_; }
  // So many keys more may make it grow.
  [[nodiscard]] bool grows_with(size_t more) const { return keys_.size() + more > limit_; }
  [[nodiscard]] size_t bytes() const {
    return slots_.size() * sizeof(Slot) + keys_.capacity() * sizeof(int64_t);
  }
  // Forgets the keys. Keeps the memory, unless much less of it was needed.
  void clear();

 private:
  struct Slot {
    int64_t key;
    uint32_t id;
  };
  static constexpr int kInitialBits = 6;

  static uint64_t hash(int64_t key) {
    auto h = static_cast<uint64_t>(key);
    h ^= h >> 32;
    return h * 0x9E3779B97F4A7C15ULL;
  }
  void allocate(int bits);
  void grow();
  uint32_t insert(int64_t key);
  uint32_t null_id();
  template <bool kPrefetch>
  void resolve_valid(const int64_t* keys, int64_t count, uint32_t* ids);
  uint32_t find_or_insert(int64_t key) {
    for (size_t at = hash(key) >> shift_;; at = (at + 1) & mask_) {
      const Slot& slot = slots_[at];
      if (slot.key == key && slot.id != kNoGroup) [[likely]]
        return slot.id;
      if (slot.id == kNoGroup) return insert(key);
    }
  }

  HugeVector<Slot> slots_;  // power of two
  size_t mask_ = 0;
  int shift_ = 0;
  size_t limit_ = 0;  // grow when more keys than this
  HugeVector<int64_t> keys_;
  uint32_t null_group_ = kNoGroup;
};

class BytesKeyIndex {
 public:
  BytesKeyIndex() { allocate(kInitialBits); }

  // ids[i] = group of key `keys(i)` with hash `hashes(i)`. Keys: (int64_t) -> std::string_view.
  template <typename Keys, typename Hashes>
  void resolve(Keys keys, Hashes hashes, int64_t count, uint32_t* ids) {
    int64_t i = 0;
    if (slots_.size() * sizeof(Slot) > kPrefetchBytes) {
      for (; i + kPrefetchDistance < count; ++i) {
        __builtin_prefetch(&slots_[place(hashes(i + kPrefetchDistance))]);
        ids[i] = find_or_insert(keys(i), hashes(i));
      }
    }
    for (; i < count; ++i) ids[i] = find_or_insert(keys(i), hashes(i));
  }
  // The group of null; its key reads as empty.
  uint32_t null_id();

  [[nodiscard]] size_t size() const { return hashes_.size(); }
  [[nodiscard]] std::string_view key(size_t id) const {
    return {arena_.data() + ends_[id], ends_[id + 1] - ends_[id]};
  }
  // As it was given to resolve().
  [[nodiscard]] uint32_t hash(size_t id) const { return hashes_[id]; }
  // kNoGroup when no null key was seen.
  [[nodiscard]] uint32_t null_group() const { return null_group_; }
  // So many keys more may make it grow.
  [[nodiscard]] bool grows_with(size_t more) const { return hashes_.size() + more > limit_; }
  [[nodiscard]] size_t bytes() const {
    return slots_.size() * sizeof(Slot) + hashes_.capacity() * (sizeof(uint32_t) + sizeof(size_t)) +
           arena_.capacity();
  }
  void clear();

 private:
  struct Slot {
    uint32_t hash;
    uint32_t id;
  };
  static constexpr int kInitialBits = 6;

  [[nodiscard]] size_t place(uint32_t hash) const {
    return (static_cast<uint64_t>(hash) * 0x9E3779B97F4A7C15ULL) >> shift_;
  }
  void allocate(int bits);
  void grow();
  uint32_t insert(std::string_view key, uint32_t hash);
  uint32_t add(std::string_view key, uint32_t hash);
  uint32_t find_or_insert(std::string_view key, uint32_t hash) {
    for (size_t at = place(hash);; at = (at + 1) & mask_) {
      const Slot& slot = slots_[at];
      if (slot.id == kNoGroup) return insert(key, hash);
      if (slot.hash == hash && equal_text(this->key(slot.id), key)) [[likely]]
        return slot.id;
    }
  }

  HugeVector<Slot> slots_;
  size_t mask_ = 0;
  int shift_ = 0;
  size_t limit_ = 0;
  HugeVector<uint32_t> hashes_;  // by id
  std::vector<size_t> ends_{0};  // arena_ places: key `id` is [ends_[id], ends_[id + 1])
  std::string arena_;
  uint32_t null_group_ = kNoGroup;
};

}  // namespace penstock::window
