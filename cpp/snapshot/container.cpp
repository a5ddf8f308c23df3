#include "snapshot/container.h"

#include "snapshot/bytes.h"
#include "snapshot/crc32c.h"

namespace penstock {

namespace {

constexpr size_t kHeaderSize = 20;  // magic 8, version 4, kind 4, checksum 4

// Reads the header and checks it. The checksum is checked before the version is believed: otherwise
// a flipped bit would look like a newer version.
Status read_header(ByteReader* reader, ContainerKind kind, const std::string& name) {
  const std::string_view header = reader->rest().substr(0, kHeaderSize);
  if (header.size() < kHeaderSize) return damaged(name, "it is cut short within its header");
  std::string_view magic;
  uint32_t version = 0;
  uint32_t kind_found = 0;
  uint32_t crc = 0;
  const bool complete = reader->get_raw(kContainerMagic.size(), &magic) &&
                        reader->get_u32(&version) && reader->get_u32(&kind_found) &&
                        reader->get_u32(&crc);
  if (!complete || magic != kContainerMagic) {
    return damaged(name, "it does not begin as a Penstock snapshot file does");
  }
  if (crc != mask_crc32c(crc32c(header.substr(0, kHeaderSize - 4)))) {
    return damaged(name, "the checksum of its header does not match");
  }
  if (version > kFormatVersion) {
    return Status::not_supported("'" + name + "' has snapshot format version " +
                                 std::to_string(version) + ", this Penstock reads up to version " +
                                 std::to_string(kFormatVersion) +
                                 ": use the Penstock release that wrote it, or a newer one");
  }
  if (version == 0) return damaged(name, "it has format version 0, which never existed");
  if (kind_found != static_cast<uint32_t>(kind)) {
    return damaged(name, "it is of kind " + std::to_string(kind_found) + ", expected kind " +
                             std::to_string(static_cast<uint32_t>(kind)));
  }
  return Status::ok();
}

Result<Section> read_section(ByteReader* reader, size_t number, const std::string& name) {
  const std::string where = "section " + std::to_string(number);
  const std::string_view begin = reader->rest();
  Section section;
  uint64_t length = 0;
  uint32_t crc = 0;
  const bool complete = reader->get_u32(&section.type) && reader->get_u64(&length) &&
                        reader->get_raw(length, &section.payload) && reader->get_u32(&crc);
  if (!complete) return damaged(name, "it is cut short within " + where);
  if (crc != mask_crc32c(crc32c(begin.substr(0, 12 + section.payload.size())))) {
    return damaged(name, "the checksum of " + where + " does not match");
  }
  return section;
}

}  // namespace

Status ContainerWriter::add_section(uint32_t type, std::string_view payload,
                                    std::string_view more) {
  PENSTOCK_RETURN_NOT_OK(write_header_once());
  std::string head;
  put_u32(&head, type);
  put_u64(&head, payload.size() + more.size());
  std::string tail;
  put_u32(&tail, mask_crc32c(crc32c(more, crc32c(payload, crc32c(head)))));
  PENSTOCK_RETURN_NOT_OK(append(head));
  PENSTOCK_RETURN_NOT_OK(append(payload));
  PENSTOCK_RETURN_NOT_OK(append(more));
  PENSTOCK_RETURN_NOT_OK(append(tail));
  ++num_sections_;
  return Status::ok();
}

Result<FileSummary> ContainerWriter::finish() {
  PENSTOCK_RETURN_NOT_OK(write_header_once());
  std::string count;
  put_u32(&count, num_sections_);
  PENSTOCK_RETURN_NOT_OK(add_section(kEndSection, count));
  PENSTOCK_RETURN_NOT_OK(file_->sync());
  return summary_;
}

Status ContainerWriter::append(std::string_view bytes) {
  if (bytes.empty()) return Status::ok();
  summary_.size += bytes.size();
  summary_.crc32c = crc32c(bytes, summary_.crc32c);
  return file_->append(bytes);
}

Status ContainerWriter::write_header_once() {
  if (has_header_) return Status::ok();
  has_header_ = true;
  std::string header(kContainerMagic);
  put_u32(&header, kFormatVersion);
  put_u32(&header, static_cast<uint32_t>(kind_));
  put_u32(&header, mask_crc32c(crc32c(header)));
  return append(header);
}

Result<std::vector<Section>> read_container(std::string_view bytes, ContainerKind kind,
                                            const std::string& name) {
  ByteReader reader(bytes);
  PENSTOCK_RETURN_NOT_OK(read_header(&reader, kind, name));
  std::vector<Section> sections;
  while (true) {
    PENSTOCK_ASSIGN_OR_RETURN(const Section section, read_section(&reader, sections.size(), name));
    if (section.type != kEndSection) {
      sections.push_back(section);
      continue;
    }
    uint32_t count = 0;
    ByteReader end(section.payload);
    if (!end.get_u32(&count) || !end.at_end() || count != sections.size()) {
      return damaged(name, "its end marker does not match its sections");
    }
    if (!reader.at_end()) return damaged(name, "bytes follow its end marker");
    return sections;
  }
}

Status damaged(const std::string& name, const std::string& what) {
  return Status::corruption("'" + name + "' is damaged: " + what +
                            ". Restore it from a copy, or start from another checkpoint");
}

}  // namespace penstock
