// LocalTransport: how a task of the local executor sends: into the channels of each edge. A full
// channel makes the task sleep until there is room (back-pressure) or the job is cancelled.
//
// Thread safety: none; belongs to the sending task's thread.
#pragma once

#include <atomic>
#include <utility>
#include <vector>

#include "exchange/channel.h"
#include "task/record_writer.h"

namespace penstock {

class LocalTransport final : public Transport {
 public:
  // All pointers outlive the transport. `waker` is the sending task's.
  LocalTransport(Waker* waker, const std::atomic<bool>* cancelled)
      : waker_(waker), cancelled_(cancelled) {}

  // Edges in the order of the chain's edge specs; one channel per target.
  void add_edge(std::vector<Channel*> channels) { edges_.push_back(std::move(channels)); }

  Status send(int32_t edge, int32_t target, Element element) override {
    Channel* const channel = edges_[static_cast<size_t>(edge)][static_cast<size_t>(target)];
    while (true) {
      const Waker::Ticket ticket = waker_->prepare();
      if (channel->try_push(element)) return Status::ok();
      if (cancelled_->load(std::memory_order_acquire) || channel->is_closed()) {
        return Status::cancelled("the job was cancelled");
      }
      waker_->wait(ticket);
    }
  }

 private:
  Waker* const waker_;
  const std::atomic<bool>* const cancelled_;
  std::vector<std::vector<Channel*>> edges_;
};

}  // namespace penstock
