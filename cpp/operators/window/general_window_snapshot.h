// How the general window operator enters snapshots. Names and bytes reach disk: never to change.
//
//   keyed state "window-contents"     key: canonical key bytes
//                                     namespace: window start and end, two int64 little endian
//                                     value: the accumulator as the functions serialise it
//   keyed state "event-time-timers"   the same key and namespace
//                                     value: the timer's timestamp, int64 little endian
//   union list  "watermark"           see window_snapshot.h
#pragma once

#include <cstdint>
#include <functional>

#include "operators/window/window_contents.h"
#include "operators/window/window_functions.h"
#include "snapshot/operator_state.h"

namespace penstock::window {

// REQUIRES (where `functions` are passed): within begin() and end() of them.
Status snapshot_contents(const WindowContents& contents, bool keyed, WindowFunctions* functions,
                         int32_t max_parallelism, OperatorState* state);
Status restore_contents(const OperatorState& state, bool keyed, WindowFunctions* functions,
                        WindowContents* contents);

KeyedStateData make_timer_state(bool keyed);
void add_timer(const WindowTimer& timer, int32_t max_parallelism, KeyedStateData* data);
Status restore_timers(const OperatorState& state, bool keyed,
                      const std::function<void(WindowTimer)>& add);

}  // namespace penstock::window
