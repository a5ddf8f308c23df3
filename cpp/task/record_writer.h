// RecordWriter: one outgoing edge of one subtask. Partitions batches, sends control elements to
// every target.
//
// Where elements go is the Transport's business: channels in one process, frames through Spark's
// shuffle, or a list in a test. The transport may block (back-pressure); it fails with kCancelled
// when the job is cancelled.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "exchange/partitioner.h"
#include "record/element.h"

namespace penstock {

class Transport {
 public:
  virtual ~Transport() = default;
  // `edge`: the number of the outgoing edge in its task; `target`: the place among the edge's
  // targets.
  virtual Status send(int32_t edge, int32_t target, Element element) = 0;
};

class RecordWriter {
 public:
  RecordWriter(int32_t edge, std::unique_ptr<Partitioner> partitioner, Transport* transport)
      : edge_(edge), partitioner_(std::move(partitioner)), transport_(transport) {}

  Status emit(Batch batch) {
    PENSTOCK_RETURN_NOT_OK(partitioner_->partition(std::move(batch), &per_target_));
    for (size_t target = 0; target < per_target_.size(); ++target) {
      if (per_target_[target].num_rows == 0) continue;
      PENSTOCK_RETURN_NOT_OK(
          transport_->send(edge_, static_cast<int32_t>(target), std::move(per_target_[target])));
    }
    return Status::ok();
  }

  Status broadcast(const Element& control) {
    for (int32_t target = 0; target < partitioner_->num_targets(); ++target) {
      PENSTOCK_RETURN_NOT_OK(transport_->send(edge_, target, control));
    }
    return Status::ok();
  }

 private:
  int32_t edge_;
  std::unique_ptr<Partitioner> partitioner_;
  Transport* transport_;  // outlives the writer
  std::vector<Batch> per_target_;
};

}  // namespace penstock
