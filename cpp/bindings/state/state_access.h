// StateAccess: what the handles of one operator in one subtask share: the backend, and whose turn it
// is.
//
// The operator sets the current key before it calls user code, and takes it away after the batch.
// Handles that outlive the operator find no backend any more, and say so.
//
// Thread safety: guarded by the GIL, but for the backend, which the operator's thread may also use
// without it: user code must use state on that thread only.
#pragma once

#include <Python.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "bindings/gil.h"
#include "common/clock.h"
#include "state/keyed_state_backend.h"

namespace penstock::bindings {

struct StateAccess {
  std::string operator_name;
  std::unique_ptr<KeyedStateBackend>
      backend;                   // null: the operator has no keyed state, or is closed
  const Clock* clock = nullptr;  // null: the operator is closed
  Timestamp current_watermark = kMinTimestamp;

  // Of the record or timer that is being processed.
  bool has_key = false;
  // A value is being encoded or decoded: user code that runs meanwhile (__reduce__, __setstate__) must
  // not touch state, whose bytes are in use.
  bool converting = false;
  EntryKey current;
  std::optional<Timestamp> timestamp;
  PyObject* time_domain = nullptr;  // borrowed; null: no timer is firing

  // Null: the operator has no timers.
  TimerQueue* event_timers = nullptr;
  TimerQueue* processing_timers = nullptr;

  void set_key(std::string_view key, uint32_t hash) {
    current.key = key;
    current.hash = hash;
    has_key = true;
  }
  void clear_key() {
    has_key = false;
    timestamp.reset();
    time_domain = nullptr;
  }
  // Ends every handle's use. Closes the backend.
  Status close();
};

// Sets `converting` for as long as it lives.
class Converting {
 public:
  explicit Converting(StateAccess* access) : access_(access) { access_->converting = true; }
  ~Converting() { access_->converting = false; }
  Converting(const Converting&) = delete;
  Converting& operator=(const Converting&) = delete;

 private:
  StateAccess* access_;
};

using StateAccessPtr = std::shared_ptr<StateAccess>;

// Sets a Python error and returns false when there is no current key. `what`: "state 'count'".
bool check_has_key(const StateAccess& access, const std::string& what);

}  // namespace penstock::bindings
