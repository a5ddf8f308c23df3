// TaskDriver: one subtask without a thread. Elements are fed by hand, what it sends is collected.
//
// The same gate, chain and partitioners as a Task; for those who bring the elements themselves: a
// Spark partition, the test harness. Nothing blocks.
//
// Thread safety: none.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "input/element_handler.h"
#include "snapshot/snapshot_format.h"
#include "task/job_plan.h"

namespace penstock {

struct SentElement {
  int32_t edge = 0;
  int32_t target = 0;
  Element element;
};

class TaskDriver {
 public:
  // `now_millis` set: a clock that stands still until set_time(). `input_of_channel` is empty for a
  // source task.
  TaskDriver(TaskInfo info, std::vector<int32_t> input_of_channel,
             std::optional<int64_t> now_millis);
  ~TaskDriver() { (void)close().is_ok(); }
  TaskDriver(const TaskDriver&) = delete;
  TaskDriver& operator=(const TaskDriver&) = delete;

  // Before open(). kInvalidArgument when the chain is open already.
  Status add_source(std::shared_ptr<Source> source, std::string name, std::string uid);
  Status add_operator(ChainNodeSpec node);
  // Keys go to targets by the target's max parallelism.
  Status add_edge(int32_t source_operator, std::optional<int32_t> side,
                  const Partitioning& partitioning, int32_t num_targets,
                  int32_t target_max_parallelism = kDefaultMaxParallelism);

  // Before open(). Where keyed state is kept; without: on the heap.
  void set_state_backend(StateBackendConfigPtr config) { state_backend_ = std::move(config); }
  // `state`: what snapshot() of one subtask gave, or nothing.
  Status open(std::optional<std::string_view> state);
  // `states`: what snapshot() of every subtask gave, in their order, whatever their parallelism was:
  // this one takes its part of them.
  Status open_rescaled(const std::vector<std::string_view>& states);
  // Lets the source emit once; false: it has ended, and the end has been sent on.
  Result<bool> poll();
  Status feed(int32_t channel, Element element);
  Status set_time(int64_t now_millis);
  [[nodiscard]] std::vector<SentElement> take_output() {
    return std::exchange(transport_.sent, {});
  }
  // The barriers aligned since the last call, with the state at each.
  [[nodiscard]] std::vector<std::pair<CheckpointId, std::string>> take_barriers() {
    return std::exchange(barriers_, {});
  }
  Result<std::string> snapshot();
  // Closes the operators; also done by the destructor. A second call does nothing.
  Status close();

  [[nodiscard]] bool ended() const { return ended_; }
  [[nodiscard]] const OperatorChain* chain() const { return chain_.get(); }

 private:
  struct Collecting final : Transport {
    Status send(int32_t edge, int32_t target, Element element) override {
      sent.push_back({edge, target, std::move(element)});
      return Status::ok();
    }
    std::vector<SentElement> sent;
  };

  Status open_chain(const OperatorStates& restored);
  Status check_open() const;
  Status handle(GateEvent event);
  Status end();
  [[nodiscard]] Result<std::string> serialise(OperatorStates state) const;

  const TaskInfo info_;
  ManualClock manual_clock_;
  const SystemClock system_clock_;
  const Clock* const clock_;
  const std::atomic<bool> cancelled_{false};
  Collecting transport_;
  ElementHandler handler_;
  std::shared_ptr<Source> source_;
  std::vector<ChainNodeSpec> nodes_;
  std::vector<ChainEdgeSpec> edges_;
  std::unique_ptr<OperatorChain> chain_;  // from open() on
  std::vector<std::pair<CheckpointId, std::string>> barriers_;
  StateBackendConfigPtr state_backend_;
  bool ended_ = false;
  bool closed_ = false;
};

}  // namespace penstock
