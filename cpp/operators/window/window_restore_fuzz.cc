// The sliced window operator restored from any entries of a snapshot: refused, or it has what its
// next snapshot says, which restores to the same.
#include <iterator>
#include <memory>
#include <vector>

#include "common/fuzzing.h"
#include "operators/window/sliced_window_operator.h"
#include "operators/window/window_snapshot.h"

namespace penstock::window {
namespace {

FieldPtr field(const char* name, const char* format) {
  return std::make_shared<const Field>(
      Field{name, DataType::from_format(format).value(), true, "", 0});
}

WindowPlanPtr make_plan(const std::vector<std::string>& keys) {
  WindowOptions options;
  options.key_columns = keys;
  options.size_ms = 10;
  options.aggregates = {{AggregateKind::kCountStar, "", "n"},
                        {AggregateKind::kSum, "number", "sum"},
                        {AggregateKind::kMin, "text", "least"},
                        {AggregateKind::kMax, "ratio", "most"},
                        {AggregateKind::kAvg, "price", "mean"}};
  const auto schema = std::make_shared<Schema>(
      std::vector<FieldPtr>{field("number", "l"), field("text", "u"), field("ratio", "g"),
                            field("price", "d:10,2"), field("day", "tdD")});
  return WindowPlan::bind(options, schema).value();
}

const std::vector<WindowPlanPtr>& plans() {
  static const std::vector<WindowPlanPtr> all = {make_plan({"number"}), make_plan({"text"}),
                                                 make_plan({"text", "day"}), make_plan({})};
  return all;
}

class NoOutput final : public Output {
 public:
  Status emit(Batch) override { return Status::ok(); }
  Status emit_side(int32_t, Batch) override { return Status::ok(); }
  Status emit_watermark(Watermark) override { return Status::ok(); }
  Status emit_status(WatermarkStatus) override { return Status::ok(); }
};

// Nothing: refused.
std::unique_ptr<OperatorState> restore_and_snapshot(const WindowPlanPtr& plan,
                                                    const OperatorState& state) {
  const auto op = SlicedWindowOperator::create(plan, {}).value();
  OperatorMetrics metrics;
  OperatorContext context;
  context.metrics = &metrics;
  must_hold(op->open(context).is_ok(), "it can be opened");
  if (!op->restore(state).is_ok()) return nullptr;
  auto out = std::make_unique<OperatorState>();
  must_hold(op->snapshot(out.get()).is_ok() && out->materialise().is_ok(), "it can be snapshot");
  NoOutput output;
  (void)op->process_watermark(Watermark{kMaxTimestamp}, output);  // sums may be out of range
  (void)op->close();
  return out;
}

}  // namespace
}  // namespace penstock::window

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace penstock;
  using namespace penstock::window;
  if (size == 0) return 0;
  const WindowPlanPtr& plan = plans()[data[0] % plans().size()];
  OperatorState state;
  KeyedStateData& contents = state.keyed.emplace_back();
  contents.meta = {kContentsState, StateKind::kWindowContents, plan->key_type(),
                   plan->namespace_type(), plan->value_type()};
  contents.groups[0] = std::string(as_bytes(data + 1, size - 1));
  const auto first = restore_and_snapshot(plan, state);
  if (first == nullptr) return 0;
  const auto second = restore_and_snapshot(plan, *first);
  must_hold(second != nullptr, "what an operator wrote can be restored");
  const KeyedStateData* const kept = first->find_keyed(kContentsState);
  const KeyedStateData* const again = second->find_keyed(kContentsState);
  must_hold((kept == nullptr) == (again == nullptr), "the contents are there or not");
  must_hold(kept == nullptr || kept->groups == again->groups,
            "a snapshot restores to what it says");
  return 0;
}
