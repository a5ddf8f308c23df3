// How the core counts references to Python objects (columnar/objects.h), from any thread.
#pragma once

#include "columnar/objects.h"

namespace penstock::bindings {

// Called once, when the module loads.
void install_python_object_ops();

// Drops one reference to each object; takes the GIL unless this thread holds it. When the
// interpreter is going away the objects are leaked, because nothing may touch them any more.
void release_objects(ObjectPtr const* objects, int64_t count);
void retain_objects(ObjectPtr const* objects, int64_t count);

}  // namespace penstock::bindings
