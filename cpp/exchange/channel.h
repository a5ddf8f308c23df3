// Channel: a bounded queue of stream elements from one subtask to another, in one process.
//
// Backpressure: a full channel refuses the next element, so a slow consumer slows its producer and
// memory stays bounded by capacity x batch size. The producer keeps what was refused and tries
// again after its Waker has been woken.
//
// Control elements (watermark, barrier, end of input ...) are ordinary elements and take a place
// like a batch does. A reserve for them that never blocks would have to be unbounded to keep its
// promise, and would gain nothing: a control element may not overtake the batches before it, so
// it cannot arrive earlier than the place it waits for becomes free.
//
// Thread safety: one producer thread (try_push, has_space), one consumer thread (try_pop,
// is_empty), close() and is_closed() from any. Lock-free.
//
// Invariants: 1. head_ <= tail_ <= head_ + capacity; 2. slots [head_, tail_) belong to the
// consumer, all others to the producer and hold no resources; 3. closed_ never goes back to false.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "exchange/waker.h"
#include "record/element.h"

namespace penstock {

class Channel {
 public:
  static constexpr size_t kDefaultCapacity = 8;

  // The wakers must outlive the channel; either may be null (nobody sleeps on that side).
  Channel(Waker* producer, Waker* consumer, size_t capacity = kDefaultCapacity)
      : producer_(producer),
        consumer_(consumer),
        capacity_(capacity == 0 ? 1 : capacity),
        mask_(std::bit_ceil(capacity_) - 1),
        slots_(mask_ + 1) {}
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  // Moves `element` in and wakes the consumer. False: full or closed, and `element` is untouched.
  [[nodiscard]] bool try_push(Element& element) {
    const uint64_t tail = tail_.load(std::memory_order_relaxed);
    if (!has_space() || is_closed()) return false;
    slots_[tail & mask_] = std::move(element);
    // Sequentially consistent for the sake of try_pop's "was it full".
    tail_.store(tail + 1, std::memory_order_seq_cst);
    if (consumer_ != nullptr) consumer_->wake();
    return true;
  }

  // Nothing when empty or closed: what is left in a closed channel is not delivered.
  [[nodiscard]] std::optional<Element> try_pop() {
    const uint64_t head = head_.load(std::memory_order_relaxed);
    if (is_empty() || is_closed()) return std::nullopt;
    Element& slot = slots_[head & mask_];
    std::optional<Element> element(std::move(slot));
    slot = Watermark{};  // lets go of whatever a moved-from batch might still hold
    // The place is given back before the producer's tail is looked at, and the producer publishes
    // its tail before it looks at the head. So a producer that found the channel full and missed
    // this store has a tail that is seen here: it is always woken.
    head_.store(head + 1, std::memory_order_seq_cst);
    const bool was_full = tail_.load(std::memory_order_seq_cst) - head >= capacity_;
    if (was_full && producer_ != nullptr) producer_->wake();
    return element;
  }

  // Producer side: true when try_push would take an element (unless closed).
  [[nodiscard]] bool has_space() {
    const uint64_t tail = tail_.load(std::memory_order_relaxed);
    if (tail - head_seen_ < capacity_) return true;
    head_seen_ = head_.load(std::memory_order_seq_cst);
    return tail - head_seen_ < capacity_;
  }

  // Consumer side.
  [[nodiscard]] bool is_empty() {
    const uint64_t head = head_.load(std::memory_order_relaxed);
    if (head != tail_seen_) return false;
    tail_seen_ = tail_.load(std::memory_order_seq_cst);
    return head == tail_seen_;
  }

  // On cancellation, by either side: no element goes in or out any more, both sides are woken.
  void close() {
    closed_.store(true, std::memory_order_seq_cst);
    if (producer_ != nullptr) producer_->wake();
    if (consumer_ != nullptr) consumer_->wake();
  }
  [[nodiscard]] bool is_closed() const { return closed_.load(std::memory_order_acquire); }

  [[nodiscard]] size_t capacity() const { return capacity_; }
  // From any thread; a moment's picture, for metrics (backpressure, queue length).
  [[nodiscard]] size_t size() const {
    const uint64_t head = head_.load(std::memory_order_acquire);
    return static_cast<size_t>(tail_.load(std::memory_order_acquire) - head);
  }

 private:
  Waker* const producer_;
  Waker* const consumer_;
  const size_t capacity_;
  const size_t mask_;
  std::vector<Element> slots_;
  std::atomic<bool> closed_{false};
  // Each side's fields on a cache line of their own. The *_seen_ are a side's own last reading of
  // the other's position: most calls do not touch the other line at all.
  alignas(64) std::atomic<uint64_t> tail_{0};  // written by the producer
  uint64_t head_seen_ = 0;
  alignas(64) std::atomic<uint64_t> head_{0};  // written by the consumer
  uint64_t tail_seen_ = 0;
};

}  // namespace penstock
