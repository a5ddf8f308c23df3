#include "operators/window/window_plan.h"

#include <set>
#include <utility>

#include "record/key_encoding.h"

namespace penstock::window {

namespace {

FieldPtr make_field(std::string name, DataTypePtr type, bool nullable) {
  auto field = std::make_shared<Field>();
  field->name = std::move(name);
  field->type = std::move(type);
  field->nullable = nullable;
  return field;
}

void append_item(const std::string& item, std::string* text, const char* separator = ", ") {
  if (!text->empty()) text->append(separator);
  text->append(item);
}

std::string join_names(const Schema& schema) {
  std::string text;
  for (const FieldPtr& field : schema.fields()) append_item(field->name, &text);
  return text;
}

std::string join_types(const Schema& schema) {
  std::string text;
  for (const FieldPtr& field : schema.fields()) {
    append_item(field->name + ": " + field->type->to_string(), &text);
  }
  return text;
}

bool is_count(const BoundAggregate& aggregate) {
  return aggregate.kind == AggregateKind::kCount || aggregate.kind == AggregateKind::kCountStar;
}

}  // namespace

Result<WindowPlanPtr> WindowPlan::bind(const WindowOptions& options, SchemaPtr input) {
  PENSTOCK_RETURN_NOT_OK(check_tumbling(options.size_ms, options.offset_ms));
  std::shared_ptr<WindowPlan> plan(
      new WindowPlan(SliceAssigner::tumbling(options.size_ms, options.offset_ms)));
  plan->input_ = std::move(input);
  PENSTOCK_RETURN_NOT_OK(plan->bind_keys(options.key_columns));
  for (const AggregateSpec& spec : options.aggregates) {
    PENSTOCK_ASSIGN_OR_RETURN(BoundAggregate bound,
                              bind_aggregate(spec, *plan->input_, options.overflow));
    plan->aggregates_.push_back(std::move(bound));
  }
  PENSTOCK_RETURN_NOT_OK(plan->build_output_schema());
  plan->build_partial_schema();
  return WindowPlanPtr(std::move(plan));
}

Status WindowPlan::bind_keys(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const int index = input_->index_of(name);
    if (index < 0) {
      return Status::key_error("window key: there is no column '" + name + "'; known are " +
                               join_names(*input_));
    }
    const DataTypePtr& type = input_->field(index).type;
    PENSTOCK_RETURN_NOT_OK(check_key_type(*type).with_context("window key '" + name + "'"));
    key_indices_.push_back(index);
    key_types_.push_back(type);
  }
  return Status::ok();
}

Status WindowPlan::build_output_schema() {
  std::vector<FieldPtr> fields;
  for (const int index : key_indices_)
    fields.push_back(input_->fields()[static_cast<size_t>(index)]);
  fields.push_back(make_field("window_start", timestamp_ms(), false));
  fields.push_back(make_field("window_end", timestamp_ms(), false));
  for (const BoundAggregate& aggregate : aggregates_) {
    fields.push_back(make_field(aggregate.alias, aggregate.result_type, !is_count(aggregate)));
  }
  std::set<std::string> names;
  for (const FieldPtr& field : fields) {
    if (!names.insert(field->name).second) {
      return Status::invalid("the window's result would have two columns '" + field->name +
                             "'; give the aggregate another alias");
    }
  }
  output_ = std::make_shared<Schema>(std::move(fields));
  return Status::ok();
}

void WindowPlan::build_partial_schema() {
  std::vector<FieldPtr> fields;
  for (const int index : key_indices_)
    fields.push_back(input_->fields()[static_cast<size_t>(index)]);
  fields.push_back(make_field(kSliceEndColumn, int64(), false));
  fields.push_back(make_field(kRowsColumn, int64(), false));
  for (size_t i = 0; i < aggregates_.size(); ++i) {
    const BoundAggregate& aggregate = aggregates_[i];
    for (size_t part = 0; part < aggregate.partial_types.size(); ++part) {
      fields.push_back(make_field("__acc" + std::to_string(i) + "_" + std::to_string(part),
                                  aggregate.partial_types[part], !is_count(aggregate)));
    }
  }
  partial_ = std::make_shared<Schema>(std::move(fields));
}

std::vector<Column> WindowPlan::key_columns(const Batch& rows) const {
  std::vector<Column> columns;
  columns.reserve(key_indices_.size());
  for (const int index : key_indices_) columns.push_back(rows.columns[static_cast<size_t>(index)]);
  return columns;
}

std::vector<Column> WindowPlan::partial_key_columns(const Batch& partials) const {
  const auto end = partials.columns.begin() + static_cast<std::ptrdiff_t>(key_indices_.size());
  return {partials.columns.begin(), end};
}

std::string WindowPlan::key_type() const {
  if (key_types_.empty()) return "none";
  if (key_types_.size() == 1) return key_types_[0]->to_string();
  std::string text;
  for (const DataTypePtr& type : key_types_) append_item(type->to_string(), &text);
  return "tuple(" + text + ")";
}

std::string WindowPlan::value_type() const {
  std::string text;
  for (const BoundAggregate& aggregate : aggregates_) append_item(aggregate.describe(), &text, ",");
  return text;
}

Status WindowPlan::check_schema(const Batch& batch, const Schema& expected) {
  if (!batch.is_columnar()) {
    return Status::type_error(
        "a window on columns got rows of objects; convert the stream to columns first");
  }
  if (batch.schema.get() == &expected) return Status::ok();
  bool same = batch.schema->num_fields() == expected.num_fields();
  for (int i = 0; same && i < expected.num_fields(); ++i) {
    same = batch.schema->field(i).name == expected.field(i).name &&
           batch.schema->field(i).type->equals(*expected.field(i).type);
  }
  if (same) return Status::ok();
  return Status::type_error("a window got a batch with columns (" + join_types(*batch.schema) +
                            ") where (" + join_types(expected) + ") was declared");
}

Status check_has_timestamps(const Batch& batch) {
  if (batch.has_timestamps()) return Status::ok();
  return Status::invalid(
      "an event-time window got records without timestamps; call assign_timestamps_and_watermarks "
      "before the window");
}

}  // namespace penstock::window
