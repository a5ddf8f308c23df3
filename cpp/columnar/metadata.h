// Key-value metadata in the raw form of the Arrow C Data Interface, as Field and Schema keep it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace penstock {

// A schema whose one field has this key with value "1" stands for bare values and not for rows.
inline constexpr std::string_view kScalarMetadataKey = "penstock.scalar";
inline constexpr std::string_view kExtensionNameKey = "ARROW:extension:name";

// nullopt when there is no such key. The view points into `metadata`.
std::optional<std::string_view> metadata_value(std::string_view metadata, std::string_view key);

// `metadata` with one more pair (or the pair's value replaced).
std::string with_metadata(std::string_view metadata, std::string_view key, std::string_view value);

}  // namespace penstock
