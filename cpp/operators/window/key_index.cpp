#include "operators/window/key_index.h"

#include <algorithm>

namespace penstock::window {

namespace {

// Room for keys in a table of `slots`: short probe chains matter more than memory.
size_t load_limit(size_t slots) { return slots / 8 * 5; }

// The table is worth keeping for the next slice when it was at least this full.
bool worth_keeping(size_t slots, size_t keys) { return slots <= 1024 || keys >= slots / 16; }

}  // namespace

void Int64KeyIndex::allocate(int bits) {
  const size_t size = size_t{1} << bits;
  slots_.assign(size, Slot{0, kNoGroup});
  mask_ = size - 1;
  shift_ = 64 - bits;
  limit_ = load_limit(size);
}

void Int64KeyIndex::clear() {
  if (worth_keeping(slots_.size(), keys_.size())) {
    std::fill(slots_.begin(), slots_.end(), Slot{0, kNoGroup});
    keys_.clear();
  } else {
    slots_ = {};
    keys_ = {};
    allocate(kInitialBits);
  }
  null_group_ = kNoGroup;
}

void Int64KeyIndex::grow() {
  slots_ = {};
  allocate(64 - shift_ + (keys_.size() < 4096 ? 2 : 1));
  const size_t count = keys_.size();
  for (size_t id = 0; id < count; ++id) {
    if (id + kPrefetchDistance < count) {
      __builtin_prefetch(&slots_[hash(keys_[id + kPrefetchDistance]) >> shift_], 1);
    }
    if (id == null_group_) continue;
    size_t at = hash(keys_[id]) >> shift_;
    while (slots_[at].id != kNoGroup) at = (at + 1) & mask_;
    slots_[at] = Slot{keys_[id], static_cast<uint32_t>(id)};
  }
}

uint32_t Int64KeyIndex::insert(int64_t key) {
  if (keys_.size() >= limit_) grow();
  size_t at = hash(key) >> shift_;
  while (slots_[at].id != kNoGroup) at = (at + 1) & mask_;
  const auto id = static_cast<uint32_t>(keys_.size());
  slots_[at] = Slot{key, id};
  keys_.push_back(key);
  return id;
}

uint32_t Int64KeyIndex::null_id() {
  if (null_group_ == kNoGroup) {
    null_group_ = static_cast<uint32_t>(keys_.size());
    keys_.push_back(0);
  }
  return null_group_;
}

template <bool kPrefetch>
void Int64KeyIndex::resolve_valid(const int64_t* keys, int64_t count, uint32_t* ids) {
  int64_t i = 0;
  if constexpr (kPrefetch) {
    for (; i + kPrefetchDistance < count; ++i) {
      __builtin_prefetch(&slots_[hash(keys[i + kPrefetchDistance]) >> shift_], 1);
      ids[i] = find_or_insert(keys[i]);
    }
  }
  for (; i < count; ++i) ids[i] = find_or_insert(keys[i]);
}

void Int64KeyIndex::resolve(const int64_t* keys, const uint8_t* is_null, int64_t count,
                            uint32_t* ids) {
  if (is_null != nullptr) {
    for (int64_t i = 0; i < count; ++i) {
      ids[i] = is_null[i] != 0 ? null_id() : find_or_insert(keys[i]);
    }
  } else if (slots_.size() * sizeof(Slot) > kPrefetchBytes) {
    resolve_valid<true>(keys, count, ids);
  } else {
    resolve_valid<false>(keys, count, ids);
  }
}

void BytesKeyIndex::allocate(int bits) {
  const size_t size = size_t{1} << bits;
  slots_.assign(size, Slot{0, kNoGroup});
  mask_ = size - 1;
  shift_ = 64 - bits;
  limit_ = load_limit(size);
}

void BytesKeyIndex::clear() {
  if (worth_keeping(slots_.size(), hashes_.size())) {
    std::fill(slots_.begin(), slots_.end(), Slot{0, kNoGroup});
    hashes_.clear();
    ends_.resize(1);
    arena_.clear();
  } else {
    hashes_ = {};
    ends_ = {0};
    arena_ = {};
    allocate(kInitialBits);
  }
  null_group_ = kNoGroup;
}

void BytesKeyIndex::grow() {
  slots_ = {};
  allocate(64 - shift_ + (hashes_.size() < 4096 ? 2 : 1));
  for (size_t id = 0; id < hashes_.size(); ++id) {
    if (id == null_group_) continue;
    size_t at = place(hashes_[id]);
    while (slots_[at].id != kNoGroup) at = (at + 1) & mask_;
    slots_[at] = Slot{hashes_[id], static_cast<uint32_t>(id)};
  }
}

uint32_t BytesKeyIndex::add(std::string_view key, uint32_t hash) {
  hashes_.push_back(hash);
  arena_.append(key);
  ends_.push_back(arena_.size());
  return static_cast<uint32_t>(hashes_.size() - 1);
}

uint32_t BytesKeyIndex::insert(std::string_view key, uint32_t hash) {
  if (hashes_.size() >= limit_) grow();
  size_t at = place(hash);
  while (slots_[at].id != kNoGroup) at = (at + 1) & mask_;
  const uint32_t id = add(key, hash);
  slots_[at] = Slot{hash, id};
  return id;
}

uint32_t BytesKeyIndex::null_id() {
  if (null_group_ == kNoGroup) null_group_ = add({}, 0);
  return null_group_;
}

}  // namespace penstock::window
