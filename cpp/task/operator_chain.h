// OperatorChain: the operators of one subtask and where each one's output goes.
//
// A tree: the head gets the task's input (or is fed by the task's source), every other operator
// reads the main or a side output of one before it. Outputs may also lead to RecordWriters. Calls
// go down the tree depth first, on the task's thread, one virtual call per batch and operator.
//
// Owns its operators and writers. Not thread safe, but the metrics are readable from anywhere.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "operators/operator.h"
#include "source/source.h"
#include "task/record_writer.h"

namespace penstock {

struct ChainNodeSpec {
  std::shared_ptr<Operator> op;  // null for a source head
  std::string name;
  std::string uid;
  int32_t upstream = -1;        // index of the operator that feeds it; -1: the head
  std::optional<int32_t> side;  // the side output of `upstream` it reads
};

struct ChainEdgeSpec {
  int32_t from = 0;  // index of the operator
  std::optional<int32_t> side;
  std::unique_ptr<Partitioner> partitioner;
};

struct TaskInfo {
  int32_t vertex = 0;
  std::string vertex_name;
  int32_t subtask = 0;
  int32_t parallelism = 1;
  int32_t max_parallelism = kDefaultMaxParallelism;
};

// Per operator (uid) of a task, what it puts into a checkpoint.
using OperatorStates = std::vector<std::pair<std::string, OperatorState>>;

class OperatorChain {
 public:
  OperatorChain(TaskInfo info, std::shared_ptr<Source> source, std::vector<ChainNodeSpec> nodes,
                std::vector<ChainEdgeSpec> edges, Transport* transport, const Clock* clock,
                const std::atomic<bool>* cancelled);
  ~OperatorChain();

  // Before open(): where keyed state is kept. Without: on the heap.
  void set_state_backend(StateBackendConfigPtr config) { state_backend_ = std::move(config); }
  // Before open(): OperatorContext::yield of all operators.
  void set_yield(std::function<Status()> yield) { yield_ = std::move(yield); }
  // `restored` has the state of each operator by uid, or is empty.
  Status open(const OperatorStates& restored);
  Result<Poll> poll_source();
  Status process_batch(Batch batch);
  Status process_watermark(Watermark watermark);
  Status process_status(WatermarkStatus status);
  [[nodiscard]] int64_t next_processing_time() const;
  Status on_processing_time(int64_t now_millis);
  // Flushes, sends the barrier on, then takes every operator's state.
  Status barrier(const Barrier& barrier, OperatorStates* state);
  Status snapshot(const SnapshotRequest& request, OperatorStates* state);
  Status checkpoint_completed(CheckpointId id);
  // Every operator's end_input in order, then EndOfInput to all edges.
  Status end_input();
  // Only the EndOfInput: the job goes on from a savepoint.
  Status leave() { return broadcast(EndOfInput{}); }
  // Closes every operator, also after a failure; the first failure wins. Throws nothing.
  Status close();

  [[nodiscard]] bool has_source() const { return source_ != nullptr; }
  [[nodiscard]] const TaskInfo& info() const { return info_; }
  [[nodiscard]] size_t size() const { return nodes_.size(); }
  [[nodiscard]] const ChainNodeSpec& node_spec(size_t i) const;
  [[nodiscard]] const OperatorMetrics& metrics(size_t i) const;

 private:
  class Node;
  Status in_operator(size_t index, Status status);
  Status close_node(size_t index);
  Status broadcast(const Element& control);

  TaskInfo info_;
  std::shared_ptr<Source> source_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<std::unique_ptr<RecordWriter>> writers_;
  const Clock* clock_;
  const std::atomic<bool>* cancelled_;
  std::function<Status()> yield_;
  StateBackendConfigPtr state_backend_;
  bool failed_ = false;  // a failure has been given its operator's name already
};

}  // namespace penstock
