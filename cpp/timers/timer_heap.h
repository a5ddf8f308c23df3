// TimerHeap: the timers of one subtask, earliest first, with set semantics.
//
// A timer is (timestamp, key, namespace). Registering one twice keeps it once, so it fires once;
// deleting an unknown one does nothing. Timers leave in the order (timestamp, key, namespace),
// which is the same whatever the order of registration was.
//
// A binary heap of pointers to the nodes of a hash map; each node knows its place in the heap, so
// that deleting is O(log n) without a search (after Flink's HeapPriorityQueueSet). Invariants: 1.
// heap_[node->second]->first is node->first; 2. no parent is later than its children.
//
// Thread safety: none; belongs to the subtask's thread.
#pragma once

#include <compare>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/ids.h"

namespace penstock {

struct Timer {
  Timestamp timestamp = 0;
  std::string key;         // canonical key bytes (record/key_encoding.h)
  std::string name_space;  // what it belongs to: a window's bytes, or empty
  friend auto operator<=>(const Timer&, const Timer&) = default;
};

struct TimerHash {
  size_t operator()(const Timer& timer) const {
    const std::hash<std::string_view> hash;
    const size_t h = hash(timer.key) * 31 + hash(timer.name_space);
    return h ^ (static_cast<size_t>(timer.timestamp) * 0x9E3779B97F4A7C15ULL);
  }
};

// Entry: copyable, less-than comparable (its order is the order of firing) and equality comparable.
template <typename Entry, typename Hash>
class HeapSet {
 public:
  HeapSet() = default;
  HeapSet(const HeapSet&) = delete;
  HeapSet& operator=(const HeapSet&) = delete;
  HeapSet(HeapSet&&) = default;
  HeapSet& operator=(HeapSet&&) = default;

  [[nodiscard]] bool empty() const { return heap_.empty(); }
  [[nodiscard]] size_t size() const { return heap_.size(); }
  [[nodiscard]] bool contains(const Entry& entry) const { return places_.contains(entry); }

  // False when it was there already.
  bool add(Entry entry) {
    const auto [node, inserted] = places_.try_emplace(std::move(entry), heap_.size());
    if (inserted) {
      heap_.push_back(&*node);
      sift_up(heap_.size() - 1);
    }
    return inserted;
  }

  // False when it was unknown.
  bool remove(const Entry& entry) {
    const auto node = places_.find(entry);
    if (node == places_.end()) return false;
    unlink(node->second);
    places_.erase(node);
    return true;
  }

  // The earliest; nullptr when empty.
  [[nodiscard]] const Entry* peek() const {
    return heap_.empty() ? nullptr : &heap_.front()->first;
  }

  // REQUIRES: not empty.
  Entry pop() {
    Node* const first = heap_.front();
    unlink(0);
    auto handle = places_.extract(first->first);
    return std::move(handle.key());
  }

  void clear() {
    heap_.clear();
    places_.clear();
  }

  // Every entry, in no particular order.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (const Node* node : heap_) visit(node->first);
  }

 private:
  using Places = std::unordered_map<Entry, size_t, Hash>;
  using Node = typename Places::value_type;

  void put(size_t place, Node* node) {
    heap_[place] = node;
    node->second = place;
  }

  // Takes the node at `place` out of the heap; it stays in places_.
  void unlink(size_t place) {
    Node* const last = heap_.back();
    heap_.pop_back();
    if (place == heap_.size()) return;
    put(place, last);
    sift_up(place);
    sift_down(last->second);
  }

  void sift_up(size_t place) {
    Node* const node = heap_[place];
    while (place > 0) {
      const size_t parent = (place - 1) / 2;
      if (!(node->first < heap_[parent]->first)) break;
      put(place, heap_[parent]);
      place = parent;
    }
    put(place, node);
  }

  void sift_down(size_t place) {
    Node* const node = heap_[place];
    while (true) {
      size_t child = 2 * place + 1;
      if (child >= heap_.size()) break;
      if (child + 1 < heap_.size() && heap_[child + 1]->first < heap_[child]->first) ++child;
      if (!(heap_[child]->first < node->first)) break;
      put(place, heap_[child]);
      place = child;
    }
    put(place, node);
  }

  Places places_;
  std::vector<Node*> heap_;
};

using TimerHeap = HeapSet<Timer, TimerHash>;

}  // namespace penstock
