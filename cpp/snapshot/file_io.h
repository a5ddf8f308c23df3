// Files, as snapshots need them: through an interface, so that tests can let the disk fail or the
// process die at any step.
//
// Failures are kIoError with the path and what the system said. A file that is not there is a
// value, not a failure.
//
// Thread safety: a FileSystem may be used from any thread; a WritableFile from one at a time.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"

namespace penstock {

// A new file, written from front to back. Not durable before sync().
class WritableFile {
 public:
  virtual ~WritableFile() = default;  // closes
  virtual Status append(std::string_view bytes) = 0;
  virtual Status sync() = 0;
  virtual Status close() = 0;
};

class FileSystem {
 public:
  virtual ~FileSystem() = default;

  // True: paths are those of the machine, and rename() is atomic, of directories too. False: an
  // object store or the like. There a file appears whole when it is closed, there are no directories
  // beside those that files make, and rename() is not used.
  [[nodiscard]] virtual bool is_local() const { return true; }
  // Replaces what is at `path`.
  virtual Result<std::unique_ptr<WritableFile>> create(const std::string& path) = 0;
  // The whole file; nothing when there is none.
  virtual Result<std::optional<std::string>> read(const std::string& path) = 0;
  virtual Status rename(const std::string& from, const std::string& to) = 0;
  // Makes the names in the directory durable: created, renamed, removed.
  virtual Status sync_directory(const std::string& path) = 0;
  // With its parents; each new name is durable when this returns. Fine when it exists.
  virtual Status create_directories(const std::string& path) = 0;
  // With everything in it; fine when there is nothing.
  virtual Status remove_all(const std::string& path) = 0;
  // Names (no paths), sorted; empty when there is no such directory.
  virtual Result<std::vector<std::string>> list(const std::string& path) = 0;
  virtual Result<bool> exists(const std::string& path) = 0;
};

// The machine's own files.
FileSystem* local_file_system();

// Creates `path` with these bytes and syncs it. The caller syncs the directory.
Status write_file(FileSystem* files, const std::string& path, std::string_view bytes);

// As write_file, but under another name first, then renamed and the directory synced: at any moment
// there is the old file or the new one, whole.
Status replace_file(FileSystem* files, const std::string& path, std::string_view bytes);

// "a/b" of "a/b/c"; "." when there is no slash.
std::string parent_path(const std::string& path);

}  // namespace penstock
