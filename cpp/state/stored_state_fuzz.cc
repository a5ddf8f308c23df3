// The bytes of state in RocksDB and in snapshots: what is accepted is the same after writing it
// again. Keys of entries and timers, lists, map entries, values with a time to live.
#include <tuple>
#include <vector>

#include "common/fuzzing.h"
#include "state/canonical.h"
#include "state/rocksdb/list_bytes.h"
#include "state/rocksdb/rocks_keys.h"
#include "state/ttl/ttl_format.h"

namespace penstock {
namespace {

void check_entry_key(std::string_view bytes) {
  EntryKeyParts parts;
  if (!split_entry_key(bytes, &parts)) return;
  std::string again;
  append_entry_key(parts.group, parts.key, parts.name_space, &again);
  again.append(parts.user_key);
  must_hold(again == bytes, "an entry's key is its parts");
}

void check_timer_key(std::string_view bytes) {
  TimerKeyParts parts;
  if (!split_timer_key(bytes, &parts)) return;
  std::string again;
  append_timer_key(parts.group, {parts.timestamp, parts.key, 0, parts.name_space}, &again);
  must_hold(again == bytes, "a timer's key is its parts");
}

// The same bytes cut in two ways are two timers, sorted as (timestamp, key, namespace) are.
void check_timer_order(std::string_view bytes) {
  if (bytes.size() < 20) return;
  const auto timer = [&](size_t from) {
    TimerView view;
    view.timestamp = bytes[from] % 3;
    view.key = bytes.substr(from + 2, static_cast<size_t>(bytes[from + 1] & 3));
    view.name_space = bytes.substr(from + 5, 2);
    return view;
  };
  const TimerView one = timer(0);
  const TimerView other = timer(10);
  std::string key_of_one;
  std::string key_of_other;
  append_timer_key(1, one, &key_of_one);
  append_timer_key(1, other, &key_of_other);
  const auto rank = [](const TimerView& view) {
    return std::tuple(view.timestamp, view.key, view.name_space);
  };
  must_hold((key_of_one < key_of_other) == (rank(one) < rank(other)), "timers sort by their keys");
}

void check_lists(std::string_view bytes) {
  std::string again;
  const bool stored = for_each_list_element(
      bytes, [&](std::string_view element) { append_list_element(element, &again); });
  must_hold(!stored || again == bytes, "a stored list is its elements");
  std::vector<std::string_view> elements;
  if (!split_list(bytes, &elements).is_ok()) return;
  std::string canonical;
  for (const std::string_view element : elements) put_bytes(&canonical, element);
  must_hold(canonical == bytes, "a canonical list is its elements");
}

void check_time_to_live(StateKind kind, std::string_view bytes, int64_t now) {
  std::string plain;
  if (strip_timestamps(kind, bytes, &plain).is_ok()) {
    std::string stamped;
    must_hold(add_timestamps(kind, 5, plain, &stamped).is_ok(), "timestamps can come back");
    std::string stripped;
    must_hold(strip_timestamps(kind, stamped, &stripped).is_ok() && stripped == plain,
              "and go again");
    must_hold(stamped.size() == bytes.size(), "each value has one timestamp");
  }
  std::string kept;
  bool left = false;
  if (!drop_expired(kind, {100, now}, bytes, &kept, &left).is_ok()) return;
  if (!left) return;
  std::string again;
  must_hold(drop_expired(kind, {100, now}, kept, &again, &left).is_ok() && left && again == kept,
            "what has not expired stays");
}

}  // namespace
}  // namespace penstock

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace penstock;
  const std::string_view bytes = as_bytes(data, size);
  check_entry_key(bytes);
  check_timer_key(bytes);
  check_timer_order(bytes);
  check_lists(bytes);
  for (const StateKind kind : {StateKind::kValue, StateKind::kList, StateKind::kMap}) {
    for (const int64_t now : {int64_t{0}, int64_t{1'000'000}, INT64_MAX}) {
      check_time_to_live(kind, bytes, now);
    }
  }
  return 0;
}
