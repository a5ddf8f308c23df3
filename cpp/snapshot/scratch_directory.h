// ScratchDirectory: a directory for files that are needed for a while, removed with the object.
//
// Thread safety: none needed; its path does not change.
#pragma once

#include <memory>
#include <string>

#include "common/status.h"

namespace penstock {

class ScratchDirectory {
 public:
  // A new, empty one under `parent`; empty: where the system keeps temporary files.
  static Result<std::shared_ptr<ScratchDirectory>> make(const std::string& parent = "");
  ~ScratchDirectory();
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  explicit ScratchDirectory(std::string path) : path_(std::move(path)) {}
  const std::string path_;
};

}  // namespace penstock
