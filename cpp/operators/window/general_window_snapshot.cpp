#include "operators/window/general_window_snapshot.h"

#include <string>
#include <string_view>
#include <utility>

#include "operators/window/window_snapshot.h"
#include "record/key_encoding.h"

namespace penstock::window {

namespace {

constexpr const char* kTimerState = "event-time-timers";

StateMeta make_meta(const char* name, bool keyed, std::string value_type) {
  StateMeta meta;
  meta.name = name;
  meta.kind = StateKind::kWindowContents;
  meta.key_type = keyed ? "encoded" : "none";
  meta.namespace_type = "window_start:int64,window_end:int64";
  meta.value_type = std::move(value_type);
  return meta;
}

int32_t group_of(std::string_view key, int32_t max_parallelism) {
  return key.empty() ? 0 : key_group_of(murmur3_32(key.data(), key.size()), max_parallelism);
}

std::string encode_window(const TimeWindow& window) {
  return encode_int64_le(window.start) + encode_int64_le(window.end);
}

Result<TimeWindow> decode_window(std::string_view bytes) {
  if (bytes.size() != 16) {
    return Status::corruption("window state: a window has " + std::to_string(bytes.size()) +
                              " bytes, not 16");
  }
  PENSTOCK_ASSIGN_OR_RETURN(const Timestamp start, decode_int64_le(bytes.substr(0, 8)));
  PENSTOCK_ASSIGN_OR_RETURN(const Timestamp end, decode_int64_le(bytes.substr(8)));
  return TimeWindow{start, end};
}

}  // namespace

Status snapshot_contents(const WindowContents& contents, bool keyed, WindowFunctions* functions,
                         int32_t max_parallelism, OperatorState* state) {
  KeyedStateData data;
  data.meta = make_meta(kContentsState, keyed, functions->value_type());
  for (const auto& [where, entry] : contents.entries()) {
    PENSTOCK_ASSIGN_OR_RETURN(const std::string value,
                              functions->serialise(entry.accumulator.get()));
    data.add(group_of(where.key, max_parallelism), where.key, encode_window(where.window), value);
  }
  state->keyed.push_back(std::move(data));
  return Status::ok();
}

Status restore_contents(const OperatorState& state, bool keyed, WindowFunctions* functions,
                        WindowContents* contents) {
  const KeyedStateData* const data = state.find_keyed(kContentsState);
  if (data == nullptr) return Status::ok();
  PENSTOCK_RETURN_NOT_OK(
      check_same_meta(data->meta, make_meta(kContentsState, keyed, functions->value_type())));
  return data->for_each([&](int32_t, std::string_view key, std::string_view name_space,
                            std::string_view value) -> Status {
    PENSTOCK_ASSIGN_OR_RETURN(const TimeWindow window, decode_window(name_space));
    PENSTOCK_ASSIGN_OR_RETURN(const ObjectPtr accumulator, functions->deserialise(value));
    contents->find_or_create({key, window})->accumulator = ObjectRef::adopt(accumulator);
    return Status::ok();
  });
}

KeyedStateData make_timer_state(bool keyed) {
  KeyedStateData data;
  data.meta = make_meta(kTimerState, keyed, "timestamp:int64");
  return data;
}

void add_timer(const WindowTimer& timer, int32_t max_parallelism, KeyedStateData* data) {
  data->add(group_of(timer.key, max_parallelism), timer.key, encode_window(timer.window),
            encode_int64_le(timer.timestamp));
}

Status restore_timers(const OperatorState& state, bool keyed,
                      const std::function<void(WindowTimer)>& add) {
  const KeyedStateData* const data = state.find_keyed(kTimerState);
  if (data == nullptr) return Status::ok();
  PENSTOCK_RETURN_NOT_OK(check_same_meta(data->meta, make_timer_state(keyed).meta));
  return data->for_each([&](int32_t, std::string_view key, std::string_view name_space,
                            std::string_view value) -> Status {
    PENSTOCK_ASSIGN_OR_RETURN(const TimeWindow window, decode_window(name_space));
    PENSTOCK_ASSIGN_OR_RETURN(const Timestamp timestamp, decode_int64_le(value));
    add({timestamp, std::string(key), window});
    return Status::ok();
  });
}

}  // namespace penstock::window
