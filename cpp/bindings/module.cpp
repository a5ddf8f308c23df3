// penstock._core: one submodule per area of the core, each filled by its own register function.

#include <pybind11/pybind11.h>

#include "bindings/register.h"

PYBIND11_MODULE(_core, module) {
  module.doc() = "The compiled core of Penstock. Private: use the classes of `penstock`.";
  module.attr("__version__") = PENSTOCK_VERSION;

  penstock::bindings::register_columnar(module);
  penstock::bindings::register_record(module);
  penstock::bindings::register_operators(module);
  penstock::bindings::register_snapshot(module);
  penstock::bindings::register_source(module);
  penstock::bindings::register_state(module);
  penstock::bindings::register_task(module);
}
