# Finds RocksDB and defines the target RocksDB::RocksDB.
#
# The shared library is used on purpose. Debian's static archive is not position independent
# (its thread-local variables use the local-exec model), so it cannot go into an extension
# module; its CMake config in addition asks for the development files of every compression
# library. Wheels carry the shared library inside (`make wheel`).

find_path(RocksDB_INCLUDE_DIR rocksdb/db.h)
find_library(RocksDB_LIBRARY rocksdb)

if(RocksDB_INCLUDE_DIR)
  file(STRINGS "${RocksDB_INCLUDE_DIR}/rocksdb/version.h" version_lines
    REGEX "#define ROCKSDB_(MAJOR|MINOR|PATCH) ")
  string(REGEX REPLACE "[^0-9;]" "" version_numbers "${version_lines}")
  list(JOIN version_numbers "." RocksDB_VERSION)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(RocksDB
  REQUIRED_VARS RocksDB_LIBRARY RocksDB_INCLUDE_DIR
  VERSION_VAR RocksDB_VERSION)
mark_as_advanced(RocksDB_INCLUDE_DIR RocksDB_LIBRARY)

if(RocksDB_FOUND AND NOT TARGET RocksDB::RocksDB)
  add_library(RocksDB::RocksDB UNKNOWN IMPORTED)
  set_target_properties(RocksDB::RocksDB PROPERTIES
    IMPORTED_LOCATION "${RocksDB_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${RocksDB_INCLUDE_DIR}")
endif()
