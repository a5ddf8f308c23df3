// ValueType::parse() over any text: what it accepts is a tree whose parts are types by themselves.
#include "common/fuzzing.h"
#include "state/value_type.h"

namespace penstock {
namespace {

void check(const ValueType& type, std::string_view text) {
  must_hold(type.text == text, "a type keeps its text");
  must_hold(type.names.empty() || type.kind == ValueKind::kRow, "only rows have names");
  must_hold(type.kind != ValueKind::kRow || type.names.size() == type.children.size(),
            "each field of a row has a name");
  for (const ValueType& child : type.children) {
    const auto again = ValueType::parse(child.text);
    must_hold(again.is_ok() && again.value().kind == child.kind &&
                  again.value().children.size() == child.children.size(),
              "a part of a type is a type by itself", child.text);
    must_hold(text.find(child.text) != std::string_view::npos, "a part stands in the whole");
    check(child, child.text);
  }
}

}  // namespace
}  // namespace penstock

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace penstock;
  const std::string_view text = as_bytes(data, size);
  const auto type = ValueType::parse(text);
  if (type.is_ok()) check(type.value(), text);
  return 0;
}
