// What an element means for the task that receives it: watermarks are combined, barriers aligned,
// batches handed through. Knows nothing of where elements come from, so the same code serves
// the local channels (InputGate), the Spark transport and the test harness.
//
// Channels are grouped into logical inputs. Within an input a WatermarkValve combines the channels;
// with several inputs, a CombinedWatermark combines those.
//
// Thread safety: none; belongs to the task's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/status.h"
#include "input/barrier_aligner.h"
#include "input/combined_watermark.h"
#include "input/gate_event.h"
#include "input/watermark_valve.h"

namespace penstock {

class ElementHandler {
 public:
  // One entry per channel: the logical input it belongs to, counted from 0.
  explicit ElementHandler(const std::vector<int32_t>& input_of_channel);

  // Handles the next element of `channel` and gives what follows from it, in order, to `visit`.
  // Stops at the first failure of `visit` and returns it. kInternal when the channel may not be
  // read now (blocked by alignment) or has ended.
  //
  // EndOfInput without a Watermark(kMaxTimestamp) before it counts as if there had been one.
  Status feed(int32_t channel, Element element, const VisitGateEvent& visit);

  // Gives up a pending checkpoint: see BarrierAligner::abort.
  void abort_checkpoint(CheckpointId id) { aligner_.abort(id); }

  [[nodiscard]] size_t num_channels() const { return channels_.size(); }
  // False while the channel is blocked by alignment, and after its end.
  [[nodiscard]] bool may_read(int32_t channel) const {
    const auto c = static_cast<size_t>(channel);
    return !aligner_.is_blocked(c) && !aligner_.is_finished(c);
  }
  [[nodiscard]] bool all_ended() const { return aligner_.num_open() == 0; }
  [[nodiscard]] bool checkpoint_pending() const { return aligner_.is_pending(); }
  [[nodiscard]] Timestamp watermark() const;

 private:
  struct ChannelPlace {
    size_t input = 0;
    size_t channel_of_input = 0;  // its index in the input's valve
  };

  Status check_readable(int32_t channel) const;
  Status handle_watermark(const ChannelPlace& place, Watermark watermark,
                          const VisitGateEvent& visit);
  Status handle_status(const ChannelPlace& place, WatermarkStatus status,
                       const VisitGateEvent& visit);
  Status handle_barrier(size_t channel, const Barrier& barrier, const VisitGateEvent& visit);
  Status handle_end(size_t channel, const VisitGateEvent& visit);
  Status forward(size_t input, const WatermarkValve::Output& output, const VisitGateEvent& visit);

  std::vector<ChannelPlace> channels_;
  std::vector<WatermarkValve> valves_;  // one per input
  CombinedWatermark combined_;          // used with several inputs only
  BarrierAligner aligner_;
};

}  // namespace penstock
