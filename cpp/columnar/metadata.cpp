#include "columnar/metadata.h"

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace penstock {

namespace {

using Pair = std::pair<std::string_view, std::string_view>;

// Metadata comes from copy at import or from with_metadata, so its lengths are right.
int32_t take_int(std::string_view* rest) {
  int32_t value = 0;
  std::memcpy(&value, rest->data(), sizeof(value));
  rest->remove_prefix(sizeof(value));
  return value;
}

std::string_view take_sized(std::string_view* rest) {
  const auto size = static_cast<size_t>(take_int(rest));
  const std::string_view value = rest->substr(0, size);
  rest->remove_prefix(size);
  return value;
}

std::vector<Pair> pairs_of(std::string_view metadata) {
  std::vector<Pair> pairs;
  if (metadata.empty()) return pairs;
  for (int32_t left = take_int(&metadata); left > 0; --left) {
    const std::string_view key = take_sized(&metadata);
    pairs.emplace_back(key, take_sized(&metadata));
  }
  return pairs;
}

void append_int(size_t value, std::string* out) {
  const auto narrow = static_cast<int32_t>(value);
  out->append(reinterpret_cast<const char*>(&narrow), sizeof(narrow));
}

void append_sized(std::string_view text, std::string* out) {
  append_int(text.size(), out);
  out->append(text);
}

}  // namespace

std::optional<std::string_view> metadata_value(std::string_view metadata, std::string_view key) {
  for (const auto& [name, value] : pairs_of(metadata)) {
    if (name == key) return value;
  }
  return std::nullopt;
}

std::string with_metadata(std::string_view metadata, std::string_view key, std::string_view value) {
  std::vector<Pair> pairs = pairs_of(metadata);
  std::erase_if(pairs, [key](const Pair& pair) { return pair.first == key; });
  pairs.emplace_back(key, value);
  std::string out;
  append_int(pairs.size(), &out);
  for (const auto& [name, text] : pairs) {
    append_sized(name, &out);
    append_sized(text, &out);
  }
  return out;
}

}  // namespace penstock
