#include "task/operator_chain.h"

#include <algorithm>
#include <exception>
#include <map>

namespace penstock {

// One operator with its outputs. The Output it hands to its operator is the node itself.
class OperatorChain::Node final : public Output {
 public:
  Node(OperatorChain* chain, size_t index, ChainNodeSpec spec)
      : chain_(chain), index_(index), spec_(std::move(spec)) {}

  Status emit(Batch batch) override {
    if (batch.num_rows == 0) return Status::ok();
    metrics.records_out.fetch_add(batch.num_rows, std::memory_order_relaxed);
    return emit_to(main_, std::move(batch));
  }
  Status emit_side(int32_t side, Batch batch) override {
    const auto found = sides_.find(side);
    if (found == sides_.end() || batch.num_rows == 0) return Status::ok();
    return emit_to(found->second, std::move(batch));
  }
  // Watermarks and statuses go to whoever reads any output of this operator.
  Status emit_watermark(Watermark watermark) override {
    metrics.current_watermark.store(watermark.timestamp, std::memory_order_relaxed);
    return to_all(watermark, [&](Node& child) {
      return chain_->in_operator(child.index_, child.spec_.op->process_watermark(watermark, child));
    });
  }
  Status emit_status(WatermarkStatus status) override {
    return to_all(status, [&](Node& child) {
      return chain_->in_operator(child.index_, child.spec_.op->process_status(status, child));
    });
  }

  Status receive(Batch batch) {
    metrics.records_in.fetch_add(batch.num_rows, std::memory_order_relaxed);
    return chain_->in_operator(index_, spec_.op->process_batch(std::move(batch), *this));
  }

  void add_child(std::optional<int32_t> side, Node* child) {
    targets(side).children.push_back(child);
  }
  void add_writer(std::optional<int32_t> side, RecordWriter* writer) {
    targets(side).writers.push_back(writer);
  }
  [[nodiscard]] const ChainNodeSpec& spec() const { return spec_; }

  OperatorMetrics metrics;

 private:
  struct Targets {
    std::vector<Node*> children;
    std::vector<RecordWriter*> writers;
  };

  Targets& targets(std::optional<int32_t> side) { return side ? sides_[*side] : main_; }

  static Status emit_to(Targets& targets, Batch batch) {
    const size_t count = targets.children.size() + targets.writers.size();
    size_t done = 0;
    for (Node* child : targets.children) {
      PENSTOCK_RETURN_NOT_OK(child->receive(++done == count ? std::move(batch) : batch));
    }
    for (RecordWriter* writer : targets.writers) {
      PENSTOCK_RETURN_NOT_OK(writer->emit(++done == count ? std::move(batch) : batch));
    }
    return Status::ok();
  }

  template <typename ToChild>
  Status to_all(const Element& control, ToChild to_child) {
    PENSTOCK_RETURN_NOT_OK(to_targets(main_, control, to_child));
    for (auto& [side, targets] : sides_)
      PENSTOCK_RETURN_NOT_OK(to_targets(targets, control, to_child));
    return Status::ok();
  }
  template <typename ToChild>
  static Status to_targets(Targets& targets, const Element& control, ToChild to_child) {
    for (Node* child : targets.children) PENSTOCK_RETURN_NOT_OK(to_child(*child));
    for (RecordWriter* writer : targets.writers) PENSTOCK_RETURN_NOT_OK(writer->broadcast(control));
    return Status::ok();
  }

  OperatorChain* chain_;
  size_t index_;
  ChainNodeSpec spec_;
  Targets main_;
  std::map<int32_t, Targets> sides_;
};

OperatorChain::OperatorChain(TaskInfo info, std::shared_ptr<Source> source,
                             std::vector<ChainNodeSpec> nodes, std::vector<ChainEdgeSpec> edges,
                             Transport* transport, const Clock* clock,
                             const std::atomic<bool>* cancelled)
    : info_(std::move(info)), source_(std::move(source)), clock_(clock), cancelled_(cancelled) {
  for (ChainNodeSpec& spec : nodes) {
    nodes_.push_back(std::make_unique<Node>(this, nodes_.size(), std::move(spec)));
  }
  for (auto& node : nodes_) {
    const int32_t upstream = node->spec().upstream;
    if (upstream >= 0)
      nodes_[static_cast<size_t>(upstream)]->add_child(node->spec().side, node.get());
  }
  for (ChainEdgeSpec& edge : edges) {
    const auto number = static_cast<int32_t>(writers_.size());
    writers_.push_back(
        std::make_unique<RecordWriter>(number, std::move(edge.partitioner), transport));
    nodes_[static_cast<size_t>(edge.from)]->add_writer(edge.side, writers_.back().get());
  }
}

OperatorChain::~OperatorChain() = default;

const ChainNodeSpec& OperatorChain::node_spec(size_t i) const { return nodes_[i]->spec(); }
const OperatorMetrics& OperatorChain::metrics(size_t i) const { return nodes_[i]->metrics; }

// Names the operator in the innermost failure only; on the way up through the chain it passes
// unchanged.
Status OperatorChain::in_operator(size_t index, Status status) {
  if (status.is_ok() || failed_ || status.code() == StatusCode::kCancelled) return status;
  failed_ = true;
  const ChainNodeSpec& spec = nodes_[index]->spec();
  return status.with_context("operator '" + spec.name + "' (uid " + spec.uid + "), subtask " +
                             std::to_string(info_.subtask + 1) + "/" +
                             std::to_string(info_.parallelism));
}

Status OperatorChain::open(const OperatorStates& restored) {
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const ChainNodeSpec& spec = nodes_[i]->spec();
    OperatorContext context;
    context.name = spec.name;
    context.uid = spec.uid;
    context.subtask = info_.subtask;
    context.parallelism = info_.parallelism;
    context.max_parallelism = info_.max_parallelism;
    context.clock = clock_;
    context.metrics = &nodes_[i]->metrics;
    context.cancelled = cancelled_;
    context.yield = yield_;
    context.state_backend = state_backend_;
    context.live = source_ == nullptr || source_->is_live();
    const auto found = std::find_if(restored.begin(), restored.end(),
                                    [&](const auto& p) { return p.first == spec.uid; });
    if (found != restored.end()) context.restored = &found->second;
    const bool is_source = i == 0 && source_ != nullptr;
    PENSTOCK_RETURN_NOT_OK(
        in_operator(i, is_source ? source_->open(context) : spec.op->open(context)));
    if (found == restored.end()) continue;
    const OperatorState& state = found->second;
    PENSTOCK_RETURN_NOT_OK(
        in_operator(i, is_source ? source_->restore(state) : spec.op->restore(state)));
  }
  return Status::ok();
}

Result<Poll> OperatorChain::poll_source() {
  Result<Poll> poll = source_->poll(*nodes_[0]);
  if (!poll.is_ok()) return in_operator(0, poll.status());
  return poll;
}

Status OperatorChain::process_batch(Batch batch) {
  return source_ ? nodes_[0]->emit(std::move(batch)) : nodes_[0]->receive(std::move(batch));
}

Status OperatorChain::process_watermark(Watermark watermark) {
  if (source_) return nodes_[0]->emit_watermark(watermark);
  return in_operator(0, nodes_[0]->spec().op->process_watermark(watermark, *nodes_[0]));
}

Status OperatorChain::process_status(WatermarkStatus status) {
  if (source_) return nodes_[0]->emit_status(status);
  return in_operator(0, nodes_[0]->spec().op->process_status(status, *nodes_[0]));
}

int64_t OperatorChain::next_processing_time() const {
  int64_t next = kMaxTimestamp;
  for (const auto& node : nodes_) {
    if (node->spec().op) next = std::min(next, node->spec().op->next_processing_time());
  }
  return next;
}

Status OperatorChain::on_processing_time(int64_t now_millis) {
  for (size_t i = 0; i < nodes_.size(); ++i) {
    Operator* op = nodes_[i]->spec().op.get();
    if (op == nullptr || op->next_processing_time() > now_millis) continue;
    PENSTOCK_RETURN_NOT_OK(in_operator(i, op->on_processing_time(now_millis, *nodes_[i])));
  }
  return Status::ok();
}

Status OperatorChain::broadcast(const Element& control) {
  for (auto& writer : writers_) PENSTOCK_RETURN_NOT_OK(writer->broadcast(control));
  return Status::ok();
}

Status OperatorChain::barrier(const Barrier& barrier, OperatorStates* state) {
  for (size_t i = 0; i < nodes_.size(); ++i) {
    Operator* op = nodes_[i]->spec().op.get();
    if (op != nullptr) PENSTOCK_RETURN_NOT_OK(in_operator(i, op->prepare_barrier(*nodes_[i])));
  }
  // The barrier goes on before the state is taken: those downstream can begin to align while this
  // task serialises.
  PENSTOCK_RETURN_NOT_OK(broadcast(barrier));
  return snapshot({barrier.id, barrier.savepoint}, state);
}

Status OperatorChain::snapshot(const SnapshotRequest& request, OperatorStates* state) {
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const ChainNodeSpec& spec = nodes_[i]->spec();
    OperatorState operator_state;
    operator_state.request = request;
    if (state_backend_ != nullptr && state_backend_->full_checkpoints())
      operator_state.request.canonical = true;
    const bool is_source = i == 0 && source_ != nullptr;
    PENSTOCK_RETURN_NOT_OK(in_operator(
        i, is_source ? source_->snapshot(&operator_state) : spec.op->snapshot(&operator_state)));
    if (!operator_state.empty()) state->emplace_back(spec.uid, std::move(operator_state));
  }
  return Status::ok();
}

Status OperatorChain::checkpoint_completed(CheckpointId id) {
  for (size_t i = 0; i < nodes_.size(); ++i) {
    Operator* op = nodes_[i]->spec().op.get();
    if (op != nullptr) PENSTOCK_RETURN_NOT_OK(in_operator(i, op->checkpoint_completed(id)));
  }
  return Status::ok();
}

Status OperatorChain::end_input() {
  for (size_t i = 0; i < nodes_.size(); ++i) {
    Operator* op = nodes_[i]->spec().op.get();
    if (op != nullptr) PENSTOCK_RETURN_NOT_OK(in_operator(i, op->end_input(*nodes_[i])));
  }
  return broadcast(EndOfInput{});
}

Status OperatorChain::close_node(size_t index) {
  Operator* op = nodes_[index]->spec().op.get();
  // Also called by destructors, and after something was thrown already.
  try {
    return op != nullptr ? op->close() : source_->close();
  } catch (const std::exception& error) {
    return Status::internal(std::string("closing: ") + error.what());
  }
}

Status OperatorChain::close() {
  Status first;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    Status status = close_node(i);
    if (first.is_ok() && !status.is_ok()) first = in_operator(i, std::move(status));
  }
  return first;
}

}  // namespace penstock
