#include "state/type_migration.h"

#include <algorithm>

#include "snapshot/bytes.h"
#include "state/canonical.h"
#include "state/ttl/ttl_format.h"

namespace penstock {

namespace {

size_t bitmap_bytes(size_t fields) { return (fields + 7) / 8; }

// `asked` is `written` with more fields behind.
bool has_grown(const ValueType& written, const ValueType& asked) {
  if (written.kind != ValueKind::kRow || asked.kind != ValueKind::kRow ||
      written.children.size() >= asked.children.size()) {
    return false;
  }
  for (size_t i = 0; i < written.children.size(); ++i) {
    if (written.names[i] != asked.names[i] || written.children[i].text != asked.children[i].text)
      return false;
  }
  return true;
}

}  // namespace

std::optional<TypeMigration> TypeMigration::between(StateKind kind, std::string_view written,
                                                    std::string_view asked) {
  const Result<ValueType> before = ValueType::parse(written);
  const Result<ValueType> after = ValueType::parse(asked);
  if (!before.is_ok() || !after.is_ok()) return std::nullopt;
  const ValueType* old_row = &before.value();
  const ValueType* new_row = &after.value();
  if (kind == StateKind::kMap) {
    const bool are_maps = old_row->kind == ValueKind::kMap && new_row->kind == ValueKind::kMap;
    if (!are_maps || old_row->children[0].text != new_row->children[0].text) return std::nullopt;
    old_row = &old_row->children[1];
    new_row = &new_row->children[1];
  }
  if (!has_grown(*old_row, *new_row)) return std::nullopt;
  return TypeMigration(old_row->children.size(), new_row->children.size());
}

Status TypeMigration::apply_to_row(bool with_timestamp, std::string_view row,
                                   std::string* out) const {
  const size_t prefix = with_timestamp ? kTtlPrefix : 0;
  const size_t bitmap = bitmap_bytes(fields_before_);
  if (row.size() < prefix + bitmap) return Status::corruption("a row is cut short");
  out->append(row.substr(0, prefix + bitmap));
  out->append(bitmap_bytes(fields_after_) - bitmap, '\0');
  char* const bits = out->data() + (out->size() - bitmap_bytes(fields_after_));
  for (size_t i = fields_before_; i < fields_after_; ++i) {
    bits[i / 8] = static_cast<char>(bits[i / 8] | (1 << (i % 8)));
  }
  out->append(row.substr(prefix + bitmap));
  return Status::ok();
}

Status TypeMigration::apply(StateKind kind, bool with_timestamps, std::string_view value,
                            std::string* out) const {
  if (kind == StateKind::kList) {
    std::string element_now;
    return for_each_element(value, [&](std::string_view element) {
      element_now.clear();
      PENSTOCK_RETURN_NOT_OK(apply_to_row(with_timestamps, element, &element_now));
      put_bytes(out, element_now);
      return Status::ok();
    });
  }
  if (kind == StateKind::kMap) {
    std::string_view user_key;
    std::string_view row;
    PENSTOCK_RETURN_NOT_OK(split_user_entry(value, &user_key, &row));
    put_bytes(out, user_key);
    return apply_to_row(with_timestamps, row, out);
  }
  return apply_to_row(with_timestamps, value, out);
}

}  // namespace penstock
