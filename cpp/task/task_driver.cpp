#include "task/task_driver.h"

#include <type_traits>

namespace penstock {

TaskDriver::TaskDriver(TaskInfo info, std::vector<int32_t> input_of_channel,
                       std::optional<int64_t> now_millis)
    : info_(std::move(info)),
      manual_clock_(now_millis.value_or(0)),
      clock_(now_millis ? static_cast<const Clock*>(&manual_clock_) : &system_clock_),
      handler_(input_of_channel) {}

Status TaskDriver::add_source(std::shared_ptr<Source> source, std::string name, std::string uid) {
  if (chain_ != nullptr || !nodes_.empty())
    return Status::invalid("a source is the first operator of its task");
  if (handler_.num_channels() > 0) return Status::invalid("a source task has no input channels");
  source_ = std::move(source);
  nodes_.push_back({nullptr, std::move(name), std::move(uid), -1, std::nullopt});
  return Status::ok();
}

Status TaskDriver::add_operator(ChainNodeSpec node) {
  if (chain_ != nullptr) return Status::invalid("the task is open: operators come before open()");
  const bool is_head = nodes_.empty();
  if (is_head ? node.upstream >= 0
              : node.upstream < 0 || static_cast<size_t>(node.upstream) >= nodes_.size()) {
    return Status::invalid("operator '" + node.name + "': no operator " +
                           std::to_string(node.upstream) + " before it");
  }
  nodes_.push_back(std::move(node));
  return Status::ok();
}

Status TaskDriver::add_edge(int32_t source_operator, std::optional<int32_t> side,
                            const Partitioning& partitioning, int32_t num_targets,
                            int32_t target_max_parallelism) {
  if (chain_ != nullptr) return Status::invalid("the task is open: edges come before open()");
  if (source_operator < 0 || static_cast<size_t>(source_operator) >= nodes_.size()) {
    return Status::invalid("an edge of operator " + std::to_string(source_operator) +
                           ", which is not there");
  }
  if (num_targets < 1) return Status::invalid("an edge needs at least one target");
  edges_.push_back(
      {source_operator, side,
       make_partitioner(partitioning, num_targets, target_max_parallelism, info_.subtask)});
  return Status::ok();
}

Status TaskDriver::open(std::optional<std::string_view> state) {
  OperatorStates restored;
  if (state) {
    PENSTOCK_ASSIGN_OR_RETURN(TaskState written, parse_task_state(*state, "snapshot"));
    for (OperatorEntry& entry : written.operators)
      restored.emplace_back(entry.uid, std::move(entry.state));
  }
  return open_chain(restored);
}

Status TaskDriver::open_rescaled(const std::vector<std::string_view>& states) {
  std::vector<TaskState> written;
  for (const std::string_view state : states) {
    PENSTOCK_ASSIGN_OR_RETURN(TaskState one, parse_task_state(state, "snapshot"));
    written.push_back(std::move(one));
  }
  OperatorStates restored;
  for (const ChainNodeSpec& node : nodes_) {
    std::vector<OperatorState> of_node;
    for (const TaskState& task : written) {
      OperatorState& mine = of_node.emplace_back();
      for (const OperatorEntry& entry : task.operators) {
        if (entry.uid == node.uid) mine = entry.state;
      }
    }
    PENSTOCK_ASSIGN_OR_RETURN(
        OperatorState part,
        reassign(of_node, info_.subtask, info_.parallelism, info_.max_parallelism));
    restored.emplace_back(node.uid, std::move(part));
  }
  return open_chain(restored);
}

Status TaskDriver::open_chain(const OperatorStates& restored) {
  if (chain_ != nullptr) return Status::invalid("the task is open already");
  if (nodes_.empty()) return Status::invalid("the task has no operators");
  chain_ = std::make_unique<OperatorChain>(info_, source_, std::move(nodes_), std::move(edges_),
                                           &transport_, clock_, &cancelled_);
  chain_->set_state_backend(state_backend_);
  return chain_->open(restored);
}

Status TaskDriver::check_open() const {
  if (chain_ == nullptr) return Status::invalid("the task is not open");
  return closed_ ? Status::invalid("the task is closed") : Status::ok();
}

Result<bool> TaskDriver::poll() {
  PENSTOCK_RETURN_NOT_OK(check_open());
  if (source_ == nullptr) return Status::invalid("the task has no source: feed it");
  if (ended_) return false;
  PENSTOCK_ASSIGN_OR_RETURN(const Poll poll, chain_->poll_source());
  if (poll.kind != PollKind::kEnd) return true;
  PENSTOCK_RETURN_NOT_OK(chain_->process_watermark(Watermark{kMaxTimestamp}));
  PENSTOCK_RETURN_NOT_OK(end());
  return false;
}

Status TaskDriver::end() {
  ended_ = true;
  return chain_->end_input();
}

Status TaskDriver::feed(int32_t channel, Element element) {
  PENSTOCK_RETURN_NOT_OK(check_open());
  return handler_.feed(channel, std::move(element),
                       [this](GateEvent event) { return handle(std::move(event)); });
}

Status TaskDriver::handle(GateEvent event) {
  return std::visit(
      [this](auto& what) -> Status {
        using Event = std::decay_t<decltype(what)>;
        if constexpr (std::is_same_v<Event, BatchReceived>) {
          return chain_->process_batch(std::move(what.batch));
        } else if constexpr (std::is_same_v<Event, Watermark>) {
          return chain_->process_watermark(what);
        } else if constexpr (std::is_same_v<Event, WatermarkStatus>) {
          return chain_->process_status(what);
        } else if constexpr (std::is_same_v<Event, CheckpointReady>) {
          OperatorStates state;
          // What leaves here has to stand for itself, without a backend's files beside it.
          what.barrier.savepoint = true;
          PENSTOCK_RETURN_NOT_OK(chain_->barrier(what.barrier, &state));
          PENSTOCK_ASSIGN_OR_RETURN(std::string bytes, serialise(std::move(state)));
          barriers_.emplace_back(what.barrier.id, std::move(bytes));
          return Status::ok();
        } else if constexpr (std::is_same_v<Event, EndOfAllInput>) {
          return end();
        } else {
          return Status::ok();
        }
      },
      event);
}

Status TaskDriver::set_time(int64_t now_millis) {
  PENSTOCK_RETURN_NOT_OK(check_open());
  if (clock_ != &manual_clock_)
    return Status::invalid("the task runs on the machine's clock, which cannot be set");
  manual_clock_.set_millis(now_millis);
  while (chain_->next_processing_time() <= now_millis) {
    PENSTOCK_RETURN_NOT_OK(chain_->on_processing_time(now_millis));
  }
  return Status::ok();
}

Result<std::string> TaskDriver::serialise(OperatorStates state) const {
  // The vertex is the caller's business; one task alone has none.
  TaskState task{{info_.vertex_name, info_.subtask}, info_.parallelism, info_.max_parallelism, {}};
  for (auto& [uid, operator_state] : state) {
    PENSTOCK_RETURN_NOT_OK(operator_state.materialise());
    task.operators.push_back({uid, std::move(operator_state)});
  }
  return serialise_task_state(task);
}

Result<std::string> TaskDriver::snapshot() {
  PENSTOCK_RETURN_NOT_OK(check_open());
  OperatorStates state;
  PENSTOCK_RETURN_NOT_OK(chain_->snapshot({{}, /*canonical=*/true}, &state));
  return serialise(std::move(state));
}

Status TaskDriver::close() {
  if (chain_ == nullptr || std::exchange(closed_, true)) return Status::ok();
  return chain_->close();
}

}  // namespace penstock
