// The deferred half of a heap snapshot: holds the segments, or the tree of timers, as they were and
// writes them out by key group, one group's bytes at a time.
//
// Thread safety: that of DeferredKeyedState.
#pragma once

#include <memory>
#include <optional>

#include "snapshot/operator_state.h"
#include "state/heap/entry_table.h"
#include "state/ttl/ttl_format.h"
#include "timers/heap_timer_queue.h"

namespace penstock {

// With a `cutoff`, what has expired by then is left out (Flink's cleanup in full snapshots).
std::shared_ptr<const DeferredKeyedState> defer_entries(StateMeta meta, EntrySnapshot entries,
                                                        int32_t max_parallelism,
                                                        std::optional<TtlCutoff> cutoff);

std::shared_ptr<const DeferredKeyedState> defer_timers(StateMeta meta, TimerTree timers,
                                                       int32_t max_parallelism);

}  // namespace penstock
