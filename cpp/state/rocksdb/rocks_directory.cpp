#include "state/rocksdb/rocks_directory.h"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace penstock {

namespace {

namespace fs = std::filesystem;

constexpr const char* kName = "penstock-rocksdb-";
// One that its maker has not locked yet. It is renamed once it is.
constexpr const char* kNewName = "penstock-rocksdb.new-";

Status failed(const std::string& what, const std::string& path, const std::string& why) {
  return Status::io_error(what + " '" + path + "': " + why +
                          "; check the directory that state.backend.rocksdb.localdir names");
}

bool begins_with(const std::string& name, const char* prefix) { return name.rfind(prefix, 0) == 0; }

bool is_old(const fs::path& path) {
  std::error_code error;
  const auto written = fs::last_write_time(path, error);
  return !error && fs::file_time_type::clock::now() - written > std::chrono::hours(1);
}

// What cannot be removed stays: it harms nobody.
void remove_leftovers(const std::string& parent) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(parent, error)) {
    const std::string name = entry.path().filename().string();
    const bool half_made = begins_with(name, kNewName) && is_old(entry.path());
    if (!half_made && !begins_with(name, kName)) continue;
    Result<DirectoryLock> lock = DirectoryLock::acquire(entry.path().string());
    std::error_code ignored;
    if (lock.is_ok()) fs::remove_all(entry.path(), ignored);
  }
}

}  // namespace

Result<std::shared_ptr<RocksDirectory>> RocksDirectory::create(const std::string& parent) {
  std::error_code error;
  const std::string place =
      parent.empty() ? fs::temp_directory_path(error).string() : fs::absolute(parent).string();
  if (!error) fs::create_directories(place, error);
  if (error) return failed("cannot use the directory", place, error.message());
  remove_leftovers(place);

  std::string path = place + "/" + kNewName + "XXXXXX";
  if (mkdtemp(path.data()) == nullptr) {
    return failed("cannot make a directory for RocksDB", path, std::strerror(errno));
  }
  PENSTOCK_ASSIGN_OR_RETURN(DirectoryLock lock, DirectoryLock::acquire(path));
  const std::string unique = path.substr(path.rfind('-') + 1);
  const std::string final_path = place + "/" + kName + unique;
  fs::rename(path, final_path, error);
  if (error) return failed("cannot rename", path, error.message());
  return std::shared_ptr<RocksDirectory>(new RocksDirectory(final_path, std::move(lock)));
}

RocksDirectory::~RocksDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

SubDirectory::~SubDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace penstock
