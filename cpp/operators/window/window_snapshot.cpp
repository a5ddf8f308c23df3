#include "operators/window/window_snapshot.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "operators/window/accumulator_combiner.h"
#include "operators/window/deferred_slices.h"
#include "record/key_encoding.h"

namespace penstock::window {

namespace {

Status check_part(const std::string& name, const char* part, const std::string& written,
                  const std::string& here) {
  if (written == here) return Status::ok();
  return Status::invalid(
      "state '" + name + "' was written with " + part + " " + written + ", this job has " + here +
      "; restore with the old definition, or give the operator a new uid to start without it");
}

}  // namespace

std::string encode_int64_le(int64_t value) {
  std::string bytes(8, '\0');
  for (size_t i = 0; i < 8; ++i)
    bytes[i] = static_cast<char>((static_cast<uint64_t>(value) >> (8 * i)) & 0xFF);
  return bytes;
}

Result<int64_t> decode_int64_le(std::string_view bytes) {
  if (bytes.size() != 8) {
    return Status::corruption("window state: an int64 has " + std::to_string(bytes.size()) +
                              " bytes");
  }
  uint64_t value = 0;
  for (size_t i = 0; i < 8; ++i)
    value |= static_cast<uint64_t>(static_cast<uint8_t>(bytes[i])) << (8 * i);
  return static_cast<int64_t>(value);
}

StateMeta contents_meta(const WindowPlan& plan) {
  StateMeta meta;
  meta.name = kContentsState;
  meta.kind = StateKind::kWindowContents;
  meta.key_type = plan.key_type();
  meta.namespace_type = plan.namespace_type();
  meta.value_type = plan.value_type();
  return meta;
}

Status check_same_meta(const StateMeta& written, const StateMeta& here) {
  PENSTOCK_RETURN_NOT_OK(check_part(here.name, "keys of type", written.key_type, here.key_type));
  PENSTOCK_RETURN_NOT_OK(
      check_part(here.name, "windows", written.namespace_type, here.namespace_type));
  return check_part(here.name, "values", written.value_type, here.value_type);
}

void snapshot_watermark(Timestamp watermark, OperatorState* state) {
  ListStateData list;
  list.meta.name = kWatermarkState;
  list.meta.kind = StateKind::kOperatorUnionList;
  list.meta.value_type = "int64";
  list.items.push_back(encode_int64_le(watermark));
  state->lists.push_back(std::move(list));
}

Result<Timestamp> restore_watermark(const OperatorState& state) {
  const ListStateData* const list = state.find_list(kWatermarkState);
  if (list == nullptr || list->items.empty()) return kMinTimestamp;
  Timestamp smallest = kMaxTimestamp;
  for (const std::string& item : list->items) {
    PENSTOCK_ASSIGN_OR_RETURN(const Timestamp watermark, decode_int64_le(item));
    smallest = std::min(smallest, watermark);
  }
  return smallest;
}

void snapshot_slices(const SliceTables& tables, const WindowPlan& plan, int32_t max_parallelism,
                     OperatorState* state) {
  std::vector<DeferredSlices::Slice> slices;
  for (const auto& [end, table] : tables.open()) {
    slices.push_back({encode_int64_le(end), FrozenTable::freeze(table)});
  }
  state->deferred.push_back(
      std::make_shared<DeferredSlices>(contents_meta(plan), max_parallelism, std::move(slices)));
}

Status restore_entries(const SliceEntries& entries, const WindowPlan& plan, SliceTable* table) {
  std::vector<Column> columns;
  const size_t width = plan.key_types().size();
  for (size_t i = 0; i < width; ++i) {
    PENSTOCK_ASSIGN_OR_RETURN(Column column, decode_keys(entries.keys, plan.key_types()[i],
                                                         width == 1 ? -1 : static_cast<int>(i)));
    columns.push_back(std::move(column));
  }
  BatchKeys keys(plan.key_types());
  const auto count = static_cast<int64_t>(entries.keys.size());
  PENSTOCK_RETURN_NOT_OK(keys.prepare(columns, count));
  const size_t before = table->size();
  const std::vector<uint32_t>& groups = table->resolve(&keys, nullptr, count);
  if (table->size() != before + entries.keys.size()) {
    return Status::corruption("state '" + std::string(kContentsState) +
                              "' holds a key twice for one window");
  }
  for (size_t i = 0; i < entries.values.size(); ++i)
    PENSTOCK_RETURN_NOT_OK(read_value(entries.values[i], groups[i], table->accumulators()));
  return Status::ok();
}

Status restore_slices(const OperatorState& state, const WindowPlan& plan,
                      const std::function<Status()>& after_some, SliceTables* tables) {
  const KeyedStateData* const data = state.find_keyed(kContentsState);
  if (data == nullptr) return Status::ok();
  PENSTOCK_RETURN_NOT_OK(check_same_meta(data->meta, contents_meta(plan)));
  std::map<Timestamp, SliceEntries> slices;
  PENSTOCK_RETURN_NOT_OK(
      data->for_each([&](int32_t, std::string_view key, std::string_view name_space,
                         std::string_view value) -> Status {
        PENSTOCK_ASSIGN_OR_RETURN(const Timestamp end, decode_int64_le(name_space));
        SliceEntries& slice = slices[end];
        slice.keys.push_back(key);
        slice.values.push_back(value);
        if (slice.keys.size() < kMaxEmitRows) return Status::ok();
        PENSTOCK_RETURN_NOT_OK(restore_entries(slice, plan, tables->at(end)));
        slice = {};
        return after_some ? after_some() : Status::ok();
      }));
  for (const auto& [end, slice] : slices) {
    PENSTOCK_RETURN_NOT_OK(restore_entries(slice, plan, tables->at(end)));
    if (after_some) PENSTOCK_RETURN_NOT_OK(after_some());
  }
  return Status::ok();
}

}  // namespace penstock::window
