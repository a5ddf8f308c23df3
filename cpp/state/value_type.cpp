#include "state/value_type.h"

#include <optional>
#include <utility>

namespace penstock {

namespace {

constexpr std::pair<std::string_view, ValueKind> kBasics[] = {
    {"BOOLEAN", ValueKind::kBoolean},
    {"BYTE", ValueKind::kByte},
    {"SHORT", ValueKind::kShort},
    {"INT", ValueKind::kInt},
    {"LONG", ValueKind::kLong},
    {"FLOAT", ValueKind::kFloat},
    {"DOUBLE", ValueKind::kDouble},
    {"STRING", ValueKind::kString},
    {"CHAR", ValueKind::kString},
    {"BINARY", ValueKind::kBinary},
    {"BIG_INT", ValueKind::kBigInt},
    {"BIG_DEC", ValueKind::kBigDec},
    {"INSTANT", ValueKind::kTimestamp},
    {"SQL_TIMESTAMP", ValueKind::kTimestamp},
    {"SQL_DATE", ValueKind::kDate},
    {"SQL_TIME", ValueKind::kTime},
    {"PICKLED_BYTE_ARRAY", ValueKind::kPickled}};

// What stands between "<prefix><" and the last ">", if `text` is of that form.
std::optional<std::string_view> inside(std::string_view text, std::string_view prefix) {
  if (text.size() < prefix.size() + 2 || !text.starts_with(prefix) || text[prefix.size()] != '<' ||
      text.back() != '>') {
    return std::nullopt;
  }
  return text.substr(prefix.size() + 1, text.size() - prefix.size() - 2);
}

// Cut at each ", " that is not inside of angle brackets.
std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  size_t from = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '<') ++depth;
    if (text[i] == '>') --depth;
    if (depth == 0 && text[i] == ',' && i + 1 < text.size() && text[i + 1] == ' ') {
      parts.push_back(text.substr(from, i - from));
      from = i + 2;
    }
  }
  if (!text.empty()) parts.push_back(text.substr(from));
  return parts;
}

Status not_understood(std::string_view text) {
  return Status::invalid("'" + std::string(text) + "' is no type of state values");
}

Result<ValueType> parse_children(std::string_view text, ValueKind kind, std::string_view body) {
  ValueType type{kind, std::string(text), {}, {}};
  for (const std::string_view part : split(body)) {
    PENSTOCK_ASSIGN_OR_RETURN(ValueType child, ValueType::parse(part));
    type.children.push_back(std::move(child));
  }
  if (kind == ValueKind::kList && type.children.size() != 1) return not_understood(text);
  if (kind == ValueKind::kMap && type.children.size() != 2) return not_understood(text);
  return type;
}

// "name TYPE": the name may have blanks of its own, so the first split whose rest is a type counts.
Status parse_field(std::string_view part, ValueType* row) {
  for (size_t at = part.find(' '); at != std::string_view::npos; at = part.find(' ', at + 1)) {
    Result<ValueType> type = ValueType::parse(part.substr(at + 1));
    if (!type.is_ok()) continue;
    row->names.emplace_back(part.substr(0, at));
    row->children.push_back(std::move(type).value());
    return Status::ok();
  }
  return Status::invalid("'" + std::string(part) + "' is no field of a row");
}

Result<ValueType> parse_row(std::string_view text, std::string_view body) {
  ValueType type{ValueKind::kRow, std::string(text), {}, {}};
  for (const std::string_view part : split(body)) {
    PENSTOCK_RETURN_NOT_OK(parse_field(part, &type).with_context("'" + std::string(text) + "'"));
  }
  return type;
}

}  // namespace

Result<ValueType> ValueType::parse(std::string_view text) {
  for (const auto& [name, kind] : kBasics) {
    if (text == name) return ValueType{kind, std::string(text), {}, {}};
  }
  if (const auto body = inside(text, "ROW")) return parse_row(text, *body);
  if (const auto body = inside(text, "TUPLE"))
    return parse_children(text, ValueKind::kTuple, *body);
  if (const auto body = inside(text, "LIST")) return parse_children(text, ValueKind::kList, *body);
  if (const auto body = inside(text, "MAP")) return parse_children(text, ValueKind::kMap, *body);
  return not_understood(text);
}

}  // namespace penstock
