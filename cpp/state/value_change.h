// What has to be done to restored values before a state can use them: a time to live was switched on
// or off since they were written, or their rows have grown.
//
// Thread safety: a ValueChange is used by one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "common/status.h"
#include "snapshot/operator_state.h"

namespace penstock {

// Takes a value as it stands in snapshots, appends what it becomes to `out`.
using ValueChange = std::function<Status(std::string_view value, std::string* out)>;

// Empty when values stay as they are. `restored_at`: the timestamp of values that get one.
// REQUIRES: check_restored(written, asked) is OK.
ValueChange change_of(const StateMeta& written, const StateMeta& asked, int64_t restored_at);

}  // namespace penstock
