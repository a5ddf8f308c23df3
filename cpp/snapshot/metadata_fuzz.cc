// Checkpoint metadata and its JSON over any text: what is accepted is the same after writing and
// reading it again.
#include "common/fuzzing.h"
#include "snapshot/checkpoint_metadata.h"
#include "snapshot/fuzzed_container.h"
#include "snapshot/json.h"

namespace penstock {
namespace {

void check_json(std::string_view text) {
  const auto json = Json::parse(text);
  if (!json.is_ok()) return;
  const std::string dumped = json.value().dump();
  const auto again = Json::parse(dumped);
  must_hold(again.is_ok(), "JSON that was written can be read", again.status().message());
  must_hold(again.value().dump() == dumped, "JSON is the same after writing and reading it");
}

void check_metadata(std::string_view text) {
  const auto metadata = metadata_from_json(text);
  if (!metadata.is_ok()) return;
  const std::string written = metadata_to_json(metadata.value());
  const auto again = metadata_from_json(written);
  must_hold(again.is_ok(), "metadata that was written can be read", again.status().message());
  must_hold(metadata_to_json(again.value()) == written, "metadata is the same after a round trip");
}

}  // namespace
}  // namespace penstock

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace penstock;
  const std::string_view bytes = as_bytes(data, size);
  check_json(bytes);
  check_metadata(bytes);
  const std::string file = repair_container(bytes, ContainerKind::kMetadata);
  (void)parse_metadata(file, "FILE");
  return 0;
}
