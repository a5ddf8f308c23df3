#include "snapshot/scratch_directory.h"

#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

namespace penstock {

Result<std::shared_ptr<ScratchDirectory>> ScratchDirectory::make(const std::string& parent) {
  std::error_code error;
  std::string pattern = parent;
  if (pattern.empty()) pattern = std::filesystem::temp_directory_path(error).string();
  if (error) return Status::io_error("there is no directory for temporary files: set TMPDIR");
  pattern += "/penstock-XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) {
    return Status::io_error("cannot make a directory '" + pattern +
                            "': " + std::generic_category().message(errno));
  }
  return std::shared_ptr<ScratchDirectory>(new ScratchDirectory(std::move(pattern)));
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code ignored;  // the system clears its temporary files too
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace penstock
