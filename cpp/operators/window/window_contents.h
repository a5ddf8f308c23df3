// WindowContents: the accumulator of each key and window that has one.
//
// Thread safety: none; belongs to the subtask's thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "operators/window/object_ref.h"
#include "operators/window/time_window.h"

namespace penstock::window {

// Key and window, not owning the key; KeyedWindow owns it.
struct KeyedWindowView {
  std::string_view key;
  TimeWindow window;
};
struct KeyedWindow {
  std::string key;
  TimeWindow window;
  operator KeyedWindowView() const { return {key, window}; }  // NOLINT: implicit by design
};

struct KeyedWindowHash {
  using is_transparent = void;
  size_t operator()(const KeyedWindowView& view) const {
    const auto start = static_cast<size_t>(view.window.start);
    const auto end = static_cast<size_t>(view.window.end);
    return std::hash<std::string_view>()(view.key) ^ ((start * 31 + end) * 0x9E3779B97F4A7C15ULL);
  }
};
struct KeyedWindowEqual {
  using is_transparent = void;
  bool operator()(const KeyedWindowView& a, const KeyedWindowView& b) const {
    return a.window == b.window && a.key == b.key;
  }
};

// One key's window. `timers` remembers timers that are registered for it, so that registering the
// same one again for every element does not search the heap; forgetting one is harmless.
struct WindowEntry {
  ObjectRef accumulator;
  std::array<Timestamp, 2> timers{};
  uint8_t num_timers = 0;

  [[nodiscard]] bool knows_timer(Timestamp timestamp) const {
    return (num_timers > 0 && timers[0] == timestamp) || (num_timers > 1 && timers[1] == timestamp);
  }
  void remember_timer(Timestamp timestamp) {
    if (num_timers < timers.size()) timers[num_timers++] = timestamp;
  }
  void forget_timers() { num_timers = 0; }
};

class WindowContents {
 public:
  using Map = std::unordered_map<KeyedWindow, WindowEntry, KeyedWindowHash, KeyedWindowEqual>;

  // nullptr when there is none.
  WindowEntry* find(const KeyedWindowView& view) {
    const auto found = entries_.find(view);
    return found == entries_.end() ? nullptr : &found->second;
  }
  WindowEntry* find_or_create(const KeyedWindowView& view) {
    WindowEntry* const entry = find(view);
    if (entry != nullptr) return entry;
    return &entries_.try_emplace(KeyedWindow{std::string(view.key), view.window}).first->second;
  }
  void erase(const KeyedWindowView& view) {
    const auto found = entries_.find(view);
    if (found != entries_.end()) entries_.erase(found);
  }
  void clear() { entries_.clear(); }
  [[nodiscard]] const Map& entries() const { return entries_; }

 private:
  Map entries_;
};

// A timer of one key's window; fires in the order (timestamp, key, window).
struct WindowTimer {
  Timestamp timestamp = 0;
  std::string key;
  TimeWindow window;
  friend auto operator<=>(const WindowTimer&, const WindowTimer&) = default;
};
struct WindowTimerHash {
  size_t operator()(const WindowTimer& timer) const {
    return KeyedWindowHash()({timer.key, timer.window}) ^
           (static_cast<size_t>(timer.timestamp) * 0xD6E8FEB86659FD93ULL);
  }
};

}  // namespace penstock::window
