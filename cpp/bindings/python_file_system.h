// PythonFileSystem: storage behind a Python object, for paths that are not the machine's own.
//
// The object (penstock.runtime.file_systems) has create(path) -> something with write(bytes) and
// close(); read(path) -> bytes or None; remove_all(path); list(path) -> list[str]; exists(path). What
// it raises becomes kIoError with the path.
//
// Thread safety: as FileSystem; takes the GIL for each call.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>

#include "snapshot/file_io.h"
#include "task/savepoint.h"

namespace penstock::bindings {

// REQUIRES: the GIL.
std::shared_ptr<FileSystem> make_python_file_system(pybind11::object object);

// `file_system` None: the machine's own. REQUIRES: the GIL.
StorageLocation storage_location(std::string path, const pybind11::object& file_system);

}  // namespace penstock::bindings
