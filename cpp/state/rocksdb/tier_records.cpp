#include "state/rocksdb/tier_records.h"

#include <algorithm>
#include <bit>

namespace penstock {

namespace {
constexpr size_t kLeastSlots = 64;
constexpr size_t kLeastChunk = size_t{4} << 10;
constexpr size_t kGreatestChunk = size_t{1} << 20;
constexpr size_t round_up(size_t bytes) { return (bytes + 7) & ~size_t{7}; }
}  // namespace

TierRecords::TierRecords(size_t expected) {
  resize_index(std::bit_ceil(std::max(kLeastSlots, expected * 4 / 3 + 1)));
}

TierRecord* TierRecords::find(uint32_t hash, std::string_view key) const {
  const size_t mask = slots_.size() - 1;
  for (size_t i = hash_slot(hash);; i = (i + 1) & mask) {
    const uint64_t slot = slots_[i];
    if (slot == 0) return nullptr;
    if (slot >> kAddressBits != hash >> 16) continue;
    TierRecord* const record = record_of(slot);
    if (record->hash == hash && record->key() == key) return record;
  }
}

TierRecord* TierRecords::insert(uint32_t hash, std::string_view key, size_t value_capacity) {
  if ((size_ + 1) * 4 > slots_.size() * 3) resize_index(slots_.size() * 2);
  const size_t bytes = round_up(sizeof(TierRecord) + key.size() + value_capacity);
  TierRecord* const record = new (allocate(bytes)) TierRecord();
  record->hash = hash;
  record->key_size = static_cast<uint32_t>(key.size());
  record->value_capacity = static_cast<uint32_t>(bytes - sizeof(TierRecord) - key.size());
  std::memcpy(record->key_data(), key.data(), key.size());
  const size_t mask = slots_.size() - 1;
  size_t i = hash_slot(hash);
  while (slots_[i] != 0) i = (i + 1) & mask;
  slots_[i] = slot_of(record);
  ++size_;
  return record;
}

TierRecord* TierRecords::set_value(TierRecord* record, std::string_view value) {
  // The record it came from stays where it is when it has to grow, so `value` is good until copied.
  if (value.size() > record->value_capacity) record = grow(record, value.size());
  std::memmove(record->value_data(), value.data(), value.size());
  record->value_size = static_cast<uint32_t>(value.size());
  return record;
}

TierRecord* TierRecords::append(TierRecord* record, std::string_view bytes) {
  const size_t size = record->value_size + bytes.size();
  if (size > record->value_capacity)
    record = grow(record, std::max(size, record->value_size * 2UL));
  std::memcpy(record->value_data() + record->value_size, bytes.data(), bytes.size());
  record->value_size = static_cast<uint32_t>(size);
  return record;
}

TierRecord* TierRecords::grow(TierRecord* record, size_t capacity) {
  const size_t bytes = round_up(sizeof(TierRecord) + record->key_size + capacity);
  TierRecord* const moved = new (allocate(bytes)) TierRecord(*record);
  moved->value_capacity = static_cast<uint32_t>(bytes - sizeof(TierRecord) - record->key_size);
  std::memcpy(moved->key_data(), record->key_data(), record->key_size + record->value_size);
  const size_t mask = slots_.size() - 1;
  size_t i = hash_slot(record->hash);
  while (record_of(slots_[i]) != record) i = (i + 1) & mask;
  slots_[i] = slot_of(moved);
  return moved;
}

TierRecord* TierRecords::allocate(size_t bytes) {
  if (bytes > left_) {
    const size_t usual = std::clamp(arena_bytes_, kLeastChunk, kGreatestChunk);
    const size_t chunk = std::max(bytes, usual);
    chunks_.push_back(std::make_unique_for_overwrite<char[]>(chunk));
    next_ = chunks_.back().get();
    left_ = chunk;
    arena_bytes_ += chunk;
  }
  char* const place = next_;
  next_ += bytes;
  left_ -= bytes;
  used_bytes_ += bytes;
  return reinterpret_cast<TierRecord*>(place);
}

void TierRecords::resize_index(size_t slots) {
  std::vector<uint64_t> old(slots, 0);
  slots_.swap(old);
  shift_ = 64 - std::countr_zero(slots);
  const size_t mask = slots - 1;
  for (const uint64_t slot : old) {
    if (slot == 0) continue;
    size_t i = hash_slot(record_of(slot)->hash);
    while (slots_[i] != 0) i = (i + 1) & mask;
    slots_[i] = slot;
  }
}

}  // namespace penstock
