#include "state/heap/entry_table.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "state/heap/map_tree.h"

namespace penstock {

namespace {

constexpr uint32_t kPlaceBits = 20;
constexpr uint32_t kPlaceMask = (1U << kPlaceBits) - 1;
constexpr uint32_t kLeastSlots = 16;
constexpr uint32_t kMostSlots = 1U << kPlaceBits;
// The directory may have this many places for each full segment's worth of entries.
constexpr uint64_t kPlacesPerSegment = 64;
constexpr uint32_t kMostDepth = 28;

uint64_t hash_bytes(std::string_view bytes) {
  uint64_t hash = bytes.size() * 0x9E3779B97F4A7C15ULL;
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data(), 8);
    hash = (hash ^ word) * 0xD6E8FEB86659FD93ULL;
    hash ^= hash >> 29;
  }
  uint64_t tail = 0;
  if (!bytes.empty()) std::memcpy(&tail, bytes.data(), bytes.size());
  hash = (hash ^ tail) * 0xD6E8FEB86659FD93ULL;
  return hash ^ (hash >> 32);
}

// Murmur's low bits decide the key group and are alike within a subtask, so all bits are mixed anew.
uint64_t mix(uint32_t hash, std::string_view name_space) {
  uint64_t mixed = hash;
  if (!name_space.empty()) mixed ^= hash_bytes(name_space);
  mixed *= 0x9E3779B97F4A7C15ULL;
  mixed ^= mixed >> 32;
  mixed *= 0xD6E8FEB86659FD93ULL;
  return mixed ^ (mixed >> 32);
}

uint64_t mixed_of(const Entry& entry) { return mix(entry.hash, entry.name_space()); }

// The part of a slot that says what hash its entry has.
uint32_t slot_tag(uint64_t mixed) { return static_cast<uint32_t>(mixed >> 24) << kPlaceBits; }

uint32_t slot_place(uint32_t slot) { return (slot & kPlaceMask) - 1; }

size_t segment_bytes(uint32_t slots, uint32_t capacity) {
  return sizeof(Segment) + slots * sizeof(uint32_t) + capacity * sizeof(Entry);
}

Segment* allocate(uint32_t slots, uint32_t capacity) {
  void* const memory = ::operator new(segment_bytes(slots, capacity), std::align_val_t{64});
  auto* const segment = new (memory) Segment;
  segment->capacity = capacity;
  segment->slot_mask = slots - 1;
  return segment;
}

// Without counting down what the entries point to.
void free_memory(Segment* segment) { ::operator delete(segment, std::align_val_t{64}); }

// Empty, with room for more than `entries`. Capacity goes up in small steps, so that little of it
// stays unused; slots are between 45 % and 75 % taken when the entries are.
Segment* make_segment(uint32_t entries, uint32_t depth) {
  uint32_t slots = kLeastSlots;
  while (slots * 3 / 4 <= entries) slots *= 2;
  uint32_t capacity = 0;
  for (const uint32_t percent : {45U, 55U, 65U, 75U}) {
    capacity = slots * percent / 100;
    if (capacity > entries) break;
  }
  Segment* const segment = allocate(slots, capacity);
  segment->depth = depth;
  std::memset(segment->slots(), 0, slots * sizeof(uint32_t));
  return segment;
}

void set_slot(Segment* segment, uint64_t mixed, uint32_t place) {
  uint32_t* const slots = segment->slots();
  uint32_t at = static_cast<uint32_t>(mixed) & segment->slot_mask;
  while (slots[at] != 0) at = (at + 1) & segment->slot_mask;
  slots[at] = slot_tag(mixed) | (place + 1);
}

void append(Segment* segment, uint64_t mixed, const Entry& entry) {
  segment->entries()[segment->size] = entry;
  set_slot(segment, mixed, segment->size);
  ++segment->size;
}

// `from`'s entries have been copied elsewhere, which owns them from here on.
void give_up(Segment* from) {
  if (!from->is_shared()) return free_memory(from);
  for (uint32_t i = 0; i < from->size; ++i) retain_entry(from->entries()[i]);
  from->release();
}

Segment* clone(Segment* from) {
  const uint32_t slots = from->slot_mask + 1;
  Segment* const copy = allocate(slots, from->capacity);
  copy->size = from->size;
  copy->depth = from->depth;
  std::memcpy(copy->slots(), from->slots(), slots * sizeof(uint32_t) + from->size * sizeof(Entry));
  give_up(from);
  return copy;
}

// The same entries in the room that they need.
Segment* resized(Segment* from) {
  Segment* const copy = make_segment(from->size, from->depth);
  for (uint32_t i = 0; i < from->size; ++i) {
    append(copy, mixed_of(from->entries()[i]), from->entries()[i]);
  }
  give_up(from);
  return copy;
}

bool matches(const Entry& entry, const EntryTable::Probe& probe) {
  if (entry.hash != probe.hash || entry.key_tag != probe.tag) return false;
  if (probe.tag != kBlobTag) {
    return entry.key.words[0] == probe.cell.words[0] && entry.key.words[1] == probe.cell.words[1] &&
           entry.key_bytes == probe.key_bytes;
  }
  return entry.key_view() == probe.key && entry.name_space() == probe.name_space;
}

// Where among the slots the entry is; -1: nowhere.
int64_t find_slot(Segment* segment, const EntryTable::Probe& probe) {
  const uint32_t* const slots = segment->slots();
  const Entry* const entries = segment->entries();
  const uint32_t tag = slot_tag(probe.mixed);
  uint32_t at = static_cast<uint32_t>(probe.mixed) & segment->slot_mask;
  for (; slots[at] != 0; at = (at + 1) & segment->slot_mask) {
    if ((slots[at] & ~kPlaceMask) == tag && matches(entries[slot_place(slots[at])], probe)) {
      return at;
    }
  }
  return -1;
}

// Frees the slot, and moves those behind it up that would not be found any more.
void close_slot(Segment* segment, uint32_t hole) {
  uint32_t* const slots = segment->slots();
  const uint32_t mask = segment->slot_mask;
  for (uint32_t at = (hole + 1) & mask; slots[at] != 0; at = (at + 1) & mask) {
    const Entry& entry = segment->entries()[slot_place(slots[at])];
    const uint32_t home = static_cast<uint32_t>(mixed_of(entry)) & mask;
    if (((at - home) & mask) < ((at - hole) & mask)) continue;
    slots[hole] = slots[at];
    hole = at;
  }
  slots[hole] = 0;
}

// The last entry goes to `place`, where there is none any more.
void move_last_to(Segment* segment, uint32_t place) {
  const uint32_t last = --segment->size;
  if (place == last) return;
  Entry* const entries = segment->entries();
  uint32_t* const slots = segment->slots();
  uint32_t at = static_cast<uint32_t>(mixed_of(entries[last])) & segment->slot_mask;
  while (slot_place(slots[at]) != last) at = (at + 1) & segment->slot_mask;
  slots[at] = (slots[at] & ~kPlaceMask) | (place + 1);
  entries[place] = entries[last];
}

Entry make_entry(const EntryTable::Probe& probe) {
  Entry entry{};
  entry.hash = probe.hash;
  entry.key_tag = probe.tag;
  entry.key_bytes = probe.key_bytes;
  entry.key = probe.cell;
  if (probe.tag == kBlobTag) {
    cell_fill(probe.key, probe.name_space, &entry.key);
    entry.key.out.extra = static_cast<uint32_t>(probe.key.size());
  }
  return entry;
}

}  // namespace

void retain_entry(const Entry& entry) {
  cell_retain(entry.key, entry.key_tag);
  cell_retain(entry.value, entry.value_tag);
  if (entry.value_tag == kTreeTag) MapTree::retain_root(entry.value.out.pointer);
}

void release_entry(const Entry& entry) {
  cell_release(entry.key, entry.key_tag);
  cell_release(entry.value, entry.value_tag);
  if (entry.value_tag == kTreeTag) MapTree::release_root(entry.value.out.pointer);
}

void Segment::release() {
  if (refs.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  for (uint32_t i = 0; i < size; ++i) release_entry(entries()[i]);
  free_memory(this);
}

EntrySnapshot::~EntrySnapshot() {
  for (Segment* segment : segments_) segment->release();
}

EntryTable::EntryTable() { directory_.push_back(make_segment(0, 0)); }

EntryTable::~EntryTable() {
  for (size_t i = 0; i < directory_.size();) {
    Segment* const segment = directory_[i];
    i += places_of(segment);
    segment->release();
  }
}

uint64_t EntryTable::memory_bytes() const {
  uint64_t bytes = directory_.capacity() * sizeof(Segment*);
  for (size_t i = 0; i < directory_.size(); i += places_of(directory_[i])) {
    bytes += segment_bytes(directory_[i]->slot_mask + 1, directory_[i]->capacity);
  }
  return bytes;
}

EntryTable::Probe EntryTable::probe_of(const EntryKey& key) {
  Probe probe{};
  probe.mixed = mix(key.hash, key.name_space);
  probe.hash = key.hash;
  probe.key = key.key;
  probe.name_space = key.name_space;
  if (key.key.size() + key.name_space.size() <= kInlineBytes) {
    probe.tag = cell_fill(key.key, key.name_space, &probe.cell);
    probe.key_bytes = static_cast<uint8_t>(key.key.size());
  } else {
    probe.tag = kBlobTag;
  }
  return probe;
}

void EntryTable::prefetch_slot(const Probe& probe) const {
  Segment* const segment = directory_[place_of(probe.mixed)];
  __builtin_prefetch(segment->slots() + (static_cast<uint32_t>(probe.mixed) & segment->slot_mask));
}

void EntryTable::prefetch_entry(const Probe& probe) const {
  Segment* const segment = directory_[place_of(probe.mixed)];
  const uint32_t slot = segment->slots()[static_cast<uint32_t>(probe.mixed) & segment->slot_mask];
  if (slot == 0) return;
  const Entry* const entry = segment->entries() + slot_place(slot);
  __builtin_prefetch(entry);
  __builtin_prefetch(reinterpret_cast<const char*>(entry) + sizeof(Entry) - 1);
}

const Entry* EntryTable::find(const Probe& probe) const {
  Segment* const segment = directory_[place_of(probe.mixed)];
  const int64_t slot = find_slot(segment, probe);
  return slot < 0 ? nullptr : segment->entries() + slot_place(segment->slots()[slot]);
}

void EntryTable::find_all(const Probe* probes, size_t count, const Entry** out) const {
  constexpr size_t kAhead = 8;
  for (size_t i = 0; i < std::min(count, 2 * kAhead); ++i) prefetch_slot(probes[i]);
  for (size_t i = 0; i < std::min(count, kAhead); ++i) prefetch_entry(probes[i]);
  for (size_t i = 0; i < count; ++i) {
    if (i + 2 * kAhead < count) prefetch_slot(probes[i + 2 * kAhead]);
    if (i + kAhead < count) prefetch_entry(probes[i + kAhead]);
    out[i] = find(probes[i]);
  }
}

// All places of the directory that have the segment of `mixed` get `with`.
void EntryTable::replace(uint64_t mixed, Segment* with) {
  const size_t places = places_of(with);
  const size_t from = place_of(mixed) & ~(places - 1);
  std::fill_n(directory_.begin() + static_cast<ptrdiff_t>(from), places, with);
}

Segment* EntryTable::writable_segment(uint64_t mixed) {
  Segment* const segment = directory_[place_of(mixed)];
  if (!segment->is_shared()) return segment;
  Segment* const copy = clone(segment);
  replace(mixed, copy);
  return copy;
}

Entry* EntryTable::find_to_change(const Probe& probe) {
  Segment* segment = directory_[place_of(probe.mixed)];
  const int64_t slot = find_slot(segment, probe);
  if (slot < 0) return nullptr;
  segment = writable_segment(probe.mixed);
  return segment->entries() + slot_place(segment->slots()[slot]);
}

Result<Entry*> EntryTable::find_or_insert(const Probe& probe, bool* inserted) {
  Entry* const known = find_to_change(probe);
  *inserted = known == nullptr;
  if (known != nullptr) return known;
  PENSTOCK_ASSIGN_OR_RETURN(Segment * segment, make_room(probe.mixed));
  append(segment, probe.mixed, make_entry(probe));
  ++size_;
  return segment->entries() + segment->size - 1;
}

// The segment for `mixed`, not shared and not full.
Result<Segment*> EntryTable::make_room(uint64_t mixed) {
  while (true) {
    Segment* const segment = directory_[place_of(mixed)];
    if (segment->size < segment->capacity) return writable_segment(mixed);
    const bool directory_may_grow =
        depth_ < kMostDepth && directory_.size() < kPlacesPerSegment * (size_ / kMaxEntries + 1);
    if (segment->size >= kMaxEntries && (segment->depth < depth_ || directory_may_grow)) {
      split(mixed);
    } else if (segment->slot_mask + 1 == kMostSlots && segment->size * 4 >= kMostSlots * 3U - 4) {
      return Status::not_supported("more than " + std::to_string(segment->size) +
                                   " keys of a keyed state have the same hash");
    } else {
      replace(mixed, resized(segment));
    }
  }
}

void EntryTable::split(uint64_t mixed) {
  Segment* const from = directory_[place_of(mixed)];
  if (from->depth == depth_) {
    std::vector<Segment*> doubled(directory_.size() * 2);
    for (size_t i = 0; i < doubled.size(); ++i) doubled[i] = directory_[i / 2];
    directory_ = std::move(doubled);
    ++depth_;
  }
  const uint32_t shift = 63 - from->depth;
  uint32_t counts[2] = {0, 0};
  for (uint32_t i = 0; i < from->size; ++i) {
    ++counts[(mixed_of(from->entries()[i]) >> shift) & 1];
  }
  Segment* const halves[2] = {make_segment(counts[0], from->depth + 1),
                              make_segment(counts[1], from->depth + 1)};
  for (uint32_t i = 0; i < from->size; ++i) {
    const uint64_t hash = mixed_of(from->entries()[i]);
    append(halves[(hash >> shift) & 1], hash, from->entries()[i]);
  }
  give_up(from);
  const uint64_t bit = uint64_t{1} << shift;
  replace(mixed & ~bit, halves[0]);
  replace(mixed | bit, halves[1]);
}

bool EntryTable::erase(const Probe& probe) {
  Segment* segment = directory_[place_of(probe.mixed)];
  const int64_t slot = find_slot(segment, probe);
  if (slot < 0) return false;
  segment = writable_segment(probe.mixed);
  const uint32_t place = slot_place(segment->slots()[slot]);
  const Entry gone = segment->entries()[place];
  close_slot(segment, static_cast<uint32_t>(slot));
  move_last_to(segment, place);
  if (segment->slot_mask >= kLeastSlots && segment->size < segment->capacity / 4) {
    replace(probe.mixed, resized(segment));
  }
  --size_;
  release_entry(gone);
  return true;
}

EntrySnapshot EntryTable::snapshot() const {
  std::vector<Segment*> segments;
  for (size_t i = 0; i < directory_.size(); i += places_of(directory_[i])) {
    directory_[i]->retain();
    segments.push_back(directory_[i]);
  }
  return EntrySnapshot(std::move(segments));
}

void EntryTable::next_keys(size_t count, std::vector<OwnedKey>* out) {
  out->clear();
  count = static_cast<size_t>(std::min<uint64_t>(count, size_));
  // At most once round: empty segments count as well.
  for (size_t steps = 0; out->size() < count && steps <= directory_.size();) {
    const Segment* const segment = directory_[place_of(cursor_hash_)];
    if (cursor_place_ < segment->size) {
      const Entry& entry = segment->entries()[cursor_place_++];
      out->push_back({std::string(entry.joined()), entry.key_size(), entry.hash});
      continue;
    }
    // To the first hash behind this segment, from the last to zero.
    cursor_place_ = 0;
    const uint32_t shift = 64 - segment->depth;
    cursor_hash_ = segment->depth == 0 ? 0 : ((cursor_hash_ >> shift) + 1) << shift;
    ++steps;
  }
}

}  // namespace penstock
