#include "bindings/state/state_access.h"

#include "bindings/errors.h"

namespace penstock::bindings {

Status StateAccess::close() {
  clear_key();
  event_timers = nullptr;
  processing_timers = nullptr;
  clock = nullptr;  // of the task, which may end before the handles do
  if (backend == nullptr) return Status::ok();
  const Status status = backend->close();
  backend.reset();
  return status;
}

bool check_has_key(const StateAccess& access, const std::string& what) {
  if (access.has_key && !access.converting) [[likely]]
    return true;
  const char* when =
      "where there is no current key: it can be used in process_element() and on_timer() only, not "
      "in open() or close()";
  if (access.backend == nullptr) when = "after the operator was closed";
  if (access.converting)
    when = "while a value of the state is pickled or read back (in __reduce__() or __setstate__())";
  (void)set_python_error(
      Status::invalid(what + " of operator '" + access.operator_name + "' was used " + when));
  return false;
}

}  // namespace penstock::bindings
