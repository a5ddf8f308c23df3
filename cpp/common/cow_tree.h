// CowTree: an ordered set of small entries that is copied by sharing it.
//
// A B+ tree of reference-counted nodes. A copy of the tree shares the root; whoever changes a tree
// clones the nodes on the way to the place that are shared, and no others. So a copy costs the same
// whatever the size, and no change ever costs more than a few nodes: there is no rehash, no
// compaction and no sort to wait for.
//
// Traits:
//   using Entry            trivially copyable; all zeros means "holds nothing"
//   using Probe            what entries are looked up by
//   retain(e), release(e)  count the references of what an entry points to
//   separator(e)           a retained copy that compares like `e`; it need hold nothing else
//   compare(probe, e)      <0, 0, >0; total order
//   kFirstLeaf             entries that the first leaf has room for; small trees are one leaf
//
// Invariants: 1. leaves are not empty, except within a call; 2. bounds(node)[i] for i > 0 is not
// greater than any entry below child i, and greater than all below child i - 1; bounds[0] means
// nothing; 3. all leaves are at level 0.
//
// Thread safety: trees that share nodes may belong to different threads; one tree belongs to one.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

namespace penstock {

template <typename Traits>
class CowTree {
 public:
  using Entry = typename Traits::Entry;
  using Probe = typename Traits::Probe;
  static_assert(std::is_trivially_copyable_v<Entry>);

  CowTree() = default;
  CowTree(const CowTree& other) : root_(other.root_) {
    if (root_ != nullptr) root_->retain();
  }
  CowTree(CowTree&& other) noexcept : root_(std::exchange(other.root_, nullptr)) {}
  CowTree& operator=(CowTree other) noexcept {
    std::swap(root_, other.root_);
    return *this;
  }
  ~CowTree() { clear(); }

  // For those who keep the root in a place of their own. What is detached is owned by the caller.
  static CowTree adopt(void* root) {
    CowTree tree;
    tree.root_ = static_cast<Node*>(root);
    return tree;
  }
  [[nodiscard]] void* detach() { return std::exchange(root_, nullptr); }
  static void retain_root(void* root) { static_cast<Node*>(root)->retain(); }
  static void release_root(void* root) { release(static_cast<Node*>(root)); }

  [[nodiscard]] bool empty() const { return root_ == nullptr; }

  void clear() {
    if (root_ != nullptr) release(std::exchange(root_, nullptr));
  }

  // nullptr when there is none.
  [[nodiscard]] const Entry* find(const Probe& probe) const {
    const Node* node = root_;
    if (node == nullptr) return nullptr;
    while (node->level > 0) node = node->children()[child_of(node, probe)];
    const uint32_t place = lower_bound(node, probe);
    return holds(node, place, probe) ? node->entries() + place : nullptr;
  }

  // The entry that is equal to `probe`. When there was none it is new and all zeros, and the caller
  // must make it equal to `probe` before the next call.
  Entry* find_or_insert(const Probe& probe, bool* inserted) {
    if (root_ == nullptr) root_ = make_node(0, Traits::kFirstLeaf);
    Node** place = &root_;
    Node* node = writable(place);
    if (is_full(node)) {
      Node* const above = make_node(node->level + 1, kNodeEntries);
      above->count = 1;
      above->entries()[0] = Entry{};
      above->children()[0] = node;
      root_ = node = above;
    }
    while (node->level > 0) {
      uint32_t child = child_of(node, probe);
      if (is_full(writable(&node->children()[child]))) {
        split_child(node, child, probe);
        if (Traits::compare(probe, node->entries()[child + 1]) >= 0) ++child;
      }
      place = &node->children()[child];
      node = *place;
    }
    const uint32_t at = lower_bound(node, probe);
    *inserted = !holds(node, at, probe);
    if (!*inserted) return node->entries() + at;
    return open_gap(place, at);
  }

  // True: the entry was there and is now `removed`, which the caller releases.
  bool take(const Probe& probe, Entry* removed) {
    if (root_ == nullptr || !take_below(&root_, probe, removed)) return false;
    shrink_root();
    return true;
  }

  // The least entry; nullptr when empty.
  [[nodiscard]] const Entry* first() const {
    const Node* node = root_;
    if (node == nullptr) return nullptr;
    while (node->level > 0) node = node->children()[0];
    return node->entries();
  }

  // Takes out the least entry, which the caller releases. REQUIRES: not empty.
  Entry take_first() {
    Entry removed = take_first_below(&root_);
    shrink_root();
    return removed;
  }

  // Visits, in order, the entries greater than `after` (nullptr: all) while `visit` returns true.
  // False: `visit` did not.
  template <typename Visit>
  bool visit_after(const Probe* after, Visit&& visit) const {
    return root_ == nullptr || visit_below(root_, after, visit);
  }
  template <typename Visit>
  bool visit(Visit&& visit) const {
    return visit_after(static_cast<const Probe*>(nullptr), visit);
  }

 private:
  static constexpr uint16_t kNodeEntries = 64;

  // Behind it in memory: room for `capacity` entries (of an inner node: bounds), and of an inner
  // node as many pointers to children.
  struct alignas(8) Node {
    std::atomic<uint32_t> refs{1};
    uint16_t count = 0;
    uint16_t capacity = 0;
    uint32_t level = 0;

    [[nodiscard]] Entry* entries() { return reinterpret_cast<Entry*>(this + 1); }
    [[nodiscard]] const Entry* entries() const { return reinterpret_cast<const Entry*>(this + 1); }
    [[nodiscard]] Node** children() { return reinterpret_cast<Node**>(entries() + capacity); }
    [[nodiscard]] Node* const* children() const {
      return reinterpret_cast<Node* const*>(entries() + capacity);
    }
    void retain() { refs.fetch_add(1, std::memory_order_relaxed); }
  };
  static_assert(alignof(Entry) <= 8 && sizeof(Entry) % 8 == 0);

  static Node* make_node(uint32_t level, uint16_t capacity) {
    const size_t each = sizeof(Entry) + (level > 0 ? sizeof(Node*) : 0);
    auto* const node = new (::operator new(sizeof(Node) + capacity * each)) Node;
    node->level = level;
    node->capacity = capacity;
    return node;
  }

  static void free_node(Node* node) { ::operator delete(node); }

  static void release(Node* node) {
    if (node->refs.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    for (uint32_t i = 0; i < node->count; ++i) {
      Traits::release(node->entries()[i]);
      if (node->level > 0) release(node->children()[i]);
    }
    free_node(node);
  }

  static Node* clone(const Node* node) {
    Node* const copy = make_node(node->level, node->capacity);
    copy->count = node->count;
    std::memcpy(copy->entries(), node->entries(), node->count * sizeof(Entry));
    for (uint32_t i = 0; i < node->count; ++i) Traits::retain(copy->entries()[i]);
    if (node->level > 0) {
      std::memcpy(copy->children(), node->children(), node->count * sizeof(Node*));
      for (uint32_t i = 0; i < node->count; ++i) copy->children()[i]->retain();
    }
    return copy;
  }

  // The node at `place`, cloned when others share it. REQUIRES: nobody shares what holds `place`.
  static Node* writable(Node** place) {
    Node* const node = *place;
    if (node->refs.load(std::memory_order_acquire) == 1) return node;
    *place = clone(node);
    release(node);
    return *place;
  }

  static bool is_full(const Node* node) { return node->count == kNodeEntries; }

  // How many entries of [from, count) are less than `probe` (or equal, too), plus `from`.
  template <bool or_equal>
  static uint32_t partition_point(const Node* node, uint32_t from, const Probe& probe) {
    const Entry* const entries = node->entries();
    uint32_t low = from;
    uint32_t high = node->count;
    while (low < high) {
      const uint32_t middle = (low + high) / 2;
      const auto order = Traits::compare(probe, entries[middle]);
      if (or_equal ? order >= 0 : order > 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
  static uint32_t lower_bound(const Node* node, const Probe& probe) {
    return partition_point<false>(node, 0, probe);
  }
  static uint32_t child_of(const Node* node, const Probe& probe) {
    return partition_point<true>(node, 1, probe) - 1;
  }
  static bool holds(const Node* leaf, uint32_t place, const Probe& probe) {
    return place < leaf->count && Traits::compare(probe, leaf->entries()[place]) == 0;
  }

  // Room for an entry at `at` of the leaf at `place`, which is not shared and below kNodeEntries.
  static Entry* open_gap(Node** place, uint32_t at) {
    Node* leaf = *place;
    if (leaf->count == leaf->capacity) {
      Node* const larger = make_node(
          0, static_cast<uint16_t>(std::min<uint32_t>(2U * leaf->capacity, kNodeEntries)));
      larger->count = leaf->count;
      std::memcpy(larger->entries(), leaf->entries(), leaf->count * sizeof(Entry));
      free_node(leaf);
      *place = leaf = larger;
    }
    Entry* const entry = leaf->entries() + at;
    std::memmove(entry + 1, entry, (leaf->count - at) * sizeof(Entry));
    ++leaf->count;
    *entry = Entry{};
    return entry;
  }

  static void open_child_gap(Node* node, uint32_t at) {
    const size_t moved = node->count - at;
    std::memmove(node->entries() + at + 1, node->entries() + at, moved * sizeof(Entry));
    std::memmove(node->children() + at + 1, node->children() + at, moved * sizeof(Node*));
    ++node->count;
  }

  // Drops bound and pointer `at` without releasing either.
  static void close_child_gap(Node* node, uint32_t at) {
    const size_t moved = node->count - at - 1;
    std::memmove(node->entries() + at, node->entries() + at + 1, moved * sizeof(Entry));
    std::memmove(node->children() + at, node->children() + at + 1, moved * sizeof(Node*));
    --node->count;
  }

  // Child `at` of `node` is full and not shared. It is cut in half; or, when `probe` goes to its
  // very end, just before its last entry: ascending insertion leaves full nodes behind.
  static void split_child(Node* node, uint32_t at, const Probe& probe) {
    Node* const left = node->children()[at];
    const bool ascending =
        Traits::compare(probe, left->entries()[left->count - 1]) > 0 && at + 1U == node->count;
    const auto kept = static_cast<uint16_t>(ascending ? left->count - 1 : left->count / 2);
    Node* const right = make_node(left->level, kNodeEntries);
    right->count = static_cast<uint16_t>(left->count - kept);
    std::memcpy(right->entries(), left->entries() + kept, right->count * sizeof(Entry));
    if (left->level > 0) {
      std::memcpy(right->children(), left->children() + kept, right->count * sizeof(Node*));
    }
    left->count = kept;
    open_child_gap(node, at + 1);
    node->entries()[at + 1] = Traits::separator(right->entries()[0]);
    node->children()[at + 1] = right;
  }

  static bool take_below(Node** place, const Probe& probe, Entry* removed) {
    Node* const node = writable(place);
    if (node->level == 0) {
      const uint32_t at = lower_bound(node, probe);
      if (!holds(node, at, probe)) return false;
      *removed = take_at(node, at);
      return true;
    }
    const uint32_t child = child_of(node, probe);
    if (!take_below(&node->children()[child], probe, removed)) return false;
    repair(node, child);
    return true;
  }

  static Entry take_first_below(Node** place) {
    Node* const node = writable(place);
    if (node->level == 0) return take_at(node, 0);
    const Entry removed = take_first_below(&node->children()[0]);
    if (node->children()[0]->count == 0) drop_child(node, 0);
    return removed;
  }

  static Entry take_at(Node* leaf, uint32_t at) {
    Entry* const entry = leaf->entries() + at;
    const Entry removed = *entry;
    std::memmove(entry, entry + 1, (leaf->count - at - 1U) * sizeof(Entry));
    --leaf->count;
    return removed;
  }

  static void drop_child(Node* node, uint32_t at) {
    Traits::release(node->entries()[at]);
    release(node->children()[at]);
    close_child_gap(node, at);
  }

  // Child `at` has lost something: it goes when it is empty, and to its neighbour when it is small.
  static void repair(Node* node, uint32_t at) {
    const uint32_t count = node->children()[at]->count;
    if (count == 0) return drop_child(node, at);
    if (count >= kNodeEntries / 4 || node->count < 2) return;
    const uint32_t left = at + 1U < node->count ? at : at - 1;
    const uint32_t both = node->children()[left]->count + node->children()[left + 1]->count;
    if (both <= kNodeEntries * 3 / 4) merge(node, left);
  }

  // Child `at` takes over all of child `at + 1`.
  static void merge(Node* node, uint32_t at) {
    Node* const left = writable(&node->children()[at]);
    Node* const right = writable(&node->children()[at + 1]);
    std::memcpy(left->entries() + left->count, right->entries(), right->count * sizeof(Entry));
    if (left->level > 0) {
      std::memcpy(left->children() + left->count, right->children(), right->count * sizeof(Node*));
      // Inside `right` the first bound meant nothing; inside `left` it does.
      std::swap(left->entries()[left->count], node->entries()[at + 1]);
    }
    left->count = static_cast<uint16_t>(left->count + right->count);
    Traits::release(node->entries()[at + 1]);
    free_node(right);
    close_child_gap(node, at + 1);
  }

  void shrink_root() {
    while (root_->level > 0 && root_->count == 1) {
      Node* const child = root_->children()[0];
      Traits::release(root_->entries()[0]);
      free_node(root_);
      root_ = child;
    }
    if (root_->count == 0) clear();
  }

  template <typename Visit>
  static bool visit_below(const Node* node, const Probe* after, Visit& visit) {
    if (node->level == 0) {
      uint32_t i = after == nullptr ? 0 : partition_point<true>(node, 0, *after);
      for (; i < node->count; ++i) {
        if (!visit(node->entries()[i])) return false;
      }
      return true;
    }
    uint32_t i = after == nullptr ? 0 : child_of(node, *after);
    for (; i < node->count; ++i, after = nullptr) {
      if (!visit_below(node->children()[i], after, visit)) return false;
    }
    return true;
  }

  Node* root_ = nullptr;
};

}  // namespace penstock
