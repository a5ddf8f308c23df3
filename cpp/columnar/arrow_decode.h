// The Arrow encodings that do not exist in the core: turned into plain columns at import, by a
// copy.
#pragma once

#include <string>
#include <string_view>

#include "columnar/arrow_abi.h"
#include "columnar/column.h"

namespace penstock {

// The value that each index points at. kInvalidArgument for an index outside the dictionary.
Result<Column> decode_dictionary(const Column& indices, const Column& values);

// String and binary views ("vu", "vz"), which Polars and others send.
bool is_view_format(std::string_view format);
// The large type that a view becomes: one batch of views may hold more than 2 GiB.
std::string decoded_view_format(std::string_view format);
Result<Column> decode_views(const ArrowArray& array, const DataTypePtr& type);

}  // namespace penstock
