// The container that every snapshot file is: a header, checksummed sections, an end marker.
// docs/snapshot-format.md describes it byte by byte; all values here reach disk, never to change.
//
// A reader gives out no byte that has not been verified. It refuses, with the file's name and what
// to do about it: another kind of file, a newer format version (kNotSupported, so that a caller can
// tell it from damage), a checksum that does not match, and a file that is cut short or too long
// (all kCorruption).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"
#include "snapshot/file_io.h"

namespace penstock {

inline constexpr std::string_view kContainerMagic = "PENSTOCK";
inline constexpr uint32_t kFormatVersion = 2;

enum class ContainerKind : uint32_t { kTaskState = 1, kMetadata = 2 };

inline constexpr uint32_t kEndSection = 0;

struct Section {
  uint32_t type = kEndSection;
  std::string_view payload;
};

// What has been written: the whole file, end marker included.
struct FileSummary {
  uint64_t size = 0;
  uint32_t crc32c = 0;
};

// Writes one container into a file. Nothing is complete before finish().
class ContainerWriter {
 public:
  // `file` must remain live while the writer is used.
  ContainerWriter(WritableFile* file, ContainerKind kind) : file_(file), kind_(kind) {}

  // Sections of the type 0 are not for callers. The payload may come in two parts, to spare a copy.
  Status add_section(uint32_t type, std::string_view payload, std::string_view more = {});
  // Writes the end marker and syncs the file.
  Result<FileSummary> finish();

 private:
  Status append(std::string_view bytes);
  Status write_header_once();

  WritableFile* const file_;
  const ContainerKind kind_;
  uint32_t num_sections_ = 0;
  bool has_header_ = false;
  FileSummary summary_;
};

// The verified sections of a container, without the end marker. They point into `bytes`. `name` is
// the file's name in messages.
Result<std::vector<Section>> read_container(std::string_view bytes, ContainerKind kind,
                                            const std::string& name);

// kCorruption with the file's name and what to do.
Status damaged(const std::string& name, const std::string& what);

}  // namespace penstock
