// EntryTable: (key, namespace) -> a value cell, in memory; extendible hashing.
//
// A directory, indexed by the top bits of the hash, points to segments of up to kMaxEntries entries.
// A segment that is full splits in two and the others stay as they are, so that no insertion waits
// for more than one segment (and, rarely, for the directory's pointers to be copied). A segment is
// one piece of memory: a header, slots (open addressing, linear probing; 12 bits of hash and 20 of
// place + 1, zero is free) and entries without holes. An entry has key, namespace and value together,
// so that a lookup that finds what it wants reads one slot and one or two lines of cache.
//
// Segments are counted references. A snapshot holds all of them as they are; the first change to a
// segment that somebody else holds clones that segment. Keys that agree in all the bits of the hash
// that the directory may use stay in one segment, which then grows beyond kMaxEntries.
//
// Invariants: 1. the table holds each segment once, however many places of the directory point to
// it: those are 2^(depth_ - segment depth) in a row; 2. nothing of a shared segment changes, except
// that list bytes are appended behind those it knows of (common/cell.h).
//
// Thread safety: none; an EntrySnapshot may be read and dropped in another thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "common/cell.h"
#include "common/status.h"
#include "state/key_walk.h"
#include "state/keyed_state.h"

namespace penstock {

inline constexpr uint8_t kTreeTag = 0xfe;  // of a value cell: the root of a MapTree

struct Entry {
  uint32_t hash;      // murmur of the key
  uint8_t key_tag;    // of key and namespace together
  uint8_t key_bytes;  // how many of them are the key, when they are in the cell
  uint8_t value_tag;
  uint8_t unused;
  Cell key;
  Cell value;

  [[nodiscard]] std::string_view joined() const { return cell_view(key, key_tag); }
  [[nodiscard]] uint32_t key_size() const {
    return key_tag == kBlobTag ? key.out.extra : key_bytes;
  }
  [[nodiscard]] std::string_view key_view() const { return joined().substr(0, key_size()); }
  [[nodiscard]] std::string_view name_space() const { return joined().substr(key_size()); }
  // REQUIRES: not a tree.
  [[nodiscard]] std::string_view value_view() const { return cell_view(value, value_tag); }
};
static_assert(sizeof(Entry) == 40);

void retain_entry(const Entry& entry);
void release_entry(const Entry& entry);

// A piece of memory: this, (slot_mask + 1) slots, `capacity` entries.
struct alignas(64) Segment {
  std::atomic<uint32_t> refs{1};
  uint32_t size = 0;
  uint32_t capacity = 0;
  uint32_t slot_mask = 0;
  uint32_t depth = 0;

  [[nodiscard]] uint32_t* slots() { return reinterpret_cast<uint32_t*>(this + 1); }
  [[nodiscard]] Entry* entries() { return reinterpret_cast<Entry*>(slots() + slot_mask + 1); }
  [[nodiscard]] const Entry* entries() const { return const_cast<Segment*>(this)->entries(); }
  [[nodiscard]] bool is_shared() const { return refs.load(std::memory_order_acquire) != 1; }
  void retain() { refs.fetch_add(1, std::memory_order_relaxed); }
  void release();
};

// What a table held at one moment.
class EntrySnapshot {
 public:
  explicit EntrySnapshot(std::vector<Segment*> retained) : segments_(std::move(retained)) {}
  EntrySnapshot(EntrySnapshot&& other) noexcept : segments_(std::exchange(other.segments_, {})) {}
  EntrySnapshot& operator=(EntrySnapshot&&) = delete;
  ~EntrySnapshot();
  template <typename Visit>
  void visit(Visit&& visit) const {
    for (const Segment* segment : segments_) {
      for (uint32_t i = 0; i < segment->size; ++i) visit(segment->entries()[i]);
    }
  }

 private:
  std::vector<Segment*> segments_;
};

class EntryTable {
 public:
  static constexpr uint32_t kMaxEntries = 3072;

  // A key made ready for lookup. Borrows the bytes of the EntryKey.
  struct Probe {
    uint64_t mixed;  // where: top bits of the directory, low bits of the slot
    uint32_t hash;
    uint8_t tag;
    uint8_t key_bytes;
    Cell cell;  // of short keys
    std::string_view key;
    std::string_view name_space;
  };

  EntryTable();
  ~EntryTable();
  EntryTable(const EntryTable&) = delete;
  EntryTable& operator=(const EntryTable&) = delete;

  [[nodiscard]] uint64_t size() const { return size_; }
  // Of the table itself, without blobs and trees.
  [[nodiscard]] uint64_t memory_bytes() const;

  static Probe probe_of(const EntryKey& key);
  // Fetches the slot into the cache; a prefetch_entry some lookups later fetches the entry.
  void prefetch_slot(const Probe& probe) const;
  void prefetch_entry(const Probe& probe) const;

  // nullptr when there is none. For reading only: the segment may be shared.
  [[nodiscard]] const Entry* find(const Probe& probe) const;
  // Looks up many keys, fetching ahead; `out` has as many places.
  void find_all(const Probe* probes, size_t count, const Entry** out) const;
  // nullptr when there is none; valid until the next call, like what find_or_insert gives.
  Entry* find_to_change(const Probe& probe);
  // A new entry has an empty value. kNotSupported: more than half a million keys have one hash.
  Result<Entry*> find_or_insert(const Probe& probe, bool* inserted);
  // False when there was none.
  bool erase(const Probe& probe);

  [[nodiscard]] EntrySnapshot snapshot() const;

  // Stops at the first failure. The table must not be changed meanwhile.
  template <typename Visit>
  Status for_each(Visit&& visit) const {
    for (size_t i = 0; i < directory_.size(); i += places_of(directory_[i])) {
      const Segment* const segment = directory_[i];
      for (uint32_t j = 0; j < segment->size; ++j) {
        PENSTOCK_RETURN_NOT_OK(visit(segment->entries()[j]));
      }
    }
    return Status::ok();
  }

  // See KeyWalk.
  void next_keys(size_t count, std::vector<OwnedKey>* out);

 private:
  [[nodiscard]] size_t place_of(uint64_t mixed) const {
    return static_cast<size_t>((mixed >> 1) >> (63 - depth_));
  }
  [[nodiscard]] size_t places_of(const Segment* segment) const {
    return size_t{1} << (depth_ - segment->depth);
  }
  Segment* writable_segment(uint64_t mixed);
  Result<Segment*> make_room(uint64_t mixed);
  void replace(uint64_t mixed, Segment* with);
  void split(uint64_t mixed);

  std::vector<Segment*> directory_;
  uint32_t depth_ = 0;
  uint64_t size_ = 0;
  // Where next_keys goes on: the top bits of a hash, and a place in that segment.
  uint64_t cursor_hash_ = 0;
  uint32_t cursor_place_ = 0;
};

}  // namespace penstock
