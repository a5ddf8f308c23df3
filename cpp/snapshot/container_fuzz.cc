// read_container() over any bytes: what it accepts is, section by section, the file it was.
#include "common/fuzzing.h"
#include "snapshot/fuzzed_container.h"

namespace penstock {
namespace {

void check(std::string_view bytes, ContainerKind kind) {
  const auto sections = read_container(bytes, kind, "FILE");
  if (!sections.is_ok()) return;
  size_t size = 20 + 16 + 4;  // header, end
  for (const Section& section : sections.value()) size += 16 + section.payload.size();
  must_hold(size == bytes.size(), "every byte of an accepted container belongs to a section");
  must_hold(repair_container(bytes, kind).substr(20) == bytes.substr(20),
            "an accepted container is the one with these sections");
}

}  // namespace
}  // namespace penstock

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace penstock;
  const std::string_view bytes = as_bytes(data, size);
  for (const ContainerKind kind : {ContainerKind::kTaskState, ContainerKind::kMetadata}) {
    check(bytes, kind);
    const std::string repaired = repair_container(bytes, kind);
    check(repaired, kind);
    must_hold(read_container(repaired, kind, "FILE").is_ok(), "a repaired container is accepted");
    must_hold(repair_container(repaired, kind) == repaired, "repairing twice changes nothing");
  }
  return 0;
}
