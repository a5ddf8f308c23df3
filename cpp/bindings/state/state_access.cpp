#include "bindings/state/state_access.h"

#include "bindings/errors.h"

namespace penstock::bindings {

Status StateAccess::close() {
  clear_key();
  event_timers = nullptr;
  processing_timers = nullptr;
  if (backend == nullptr) return Status::ok();
  const Status status = backend->close();
  backend.reset();
  return status;
}

bool check_has_key(const StateAccess& access, const std::string& what) {
  if (access.has_key) [[likely]]
    return true;
  const bool closed = access.backend == nullptr;
  (void)set_python_error(Status::invalid(
      what + " of operator '" + access.operator_name + "' was used " +
      (closed ? "after the operator was closed"
              : "where there is no current key: it can be used in process_element() and on_timer() "
                "only, not in open() or close()")));
  return false;
}

}  // namespace penstock::bindings
