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

constexpr int kMaxDepth = 64;  // far beyond any type; keeps a damaged text off the stack's end

// What stands between "<prefix><" and the ">" that belongs to it, if that is the last character.
std::optional<std::string_view> inside(std::string_view text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return std::nullopt;
  const std::string_view rest = text.substr(prefix.size());
  int depth = 0;
  for (size_t i = 0; i < rest.size(); ++i) {
    if (rest[i] == '<') ++depth;
    if (rest[i] == '>') --depth;
    if (depth > 0) continue;
    if (i == 0 || i + 1 < rest.size()) return std::nullopt;
    return rest.substr(1, rest.size() - 2);
  }
  return std::nullopt;
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

Result<ValueType> parse_at(std::string_view text, int depth);

Result<ValueType> parse_children(std::string_view text, ValueKind kind, std::string_view body,
                                 int depth) {
  ValueType type{kind, std::string(text), {}, {}};
  for (const std::string_view part : split(body)) {
    PENSTOCK_ASSIGN_OR_RETURN(ValueType child, parse_at(part, depth + 1));
    type.children.push_back(std::move(child));
  }
  if (kind == ValueKind::kList && type.children.size() != 1) return not_understood(text);
  if (kind == ValueKind::kMap && type.children.size() != 2) return not_understood(text);
  return type;
}

// "name TYPE": the name may have blanks of its own, so the first split whose rest is a type counts.
// Only blanks outside of angle brackets split: those inside would be tried again, level by level.
Status parse_field(std::string_view part, int depth, ValueType* row) {
  int open = 0;
  for (size_t at = 0; at < part.size(); ++at) {
    if (part[at] == '<') ++open;
    if (part[at] == '>') --open;
    if (open != 0 || part[at] != ' ') continue;
    Result<ValueType> type = parse_at(part.substr(at + 1), depth + 1);
    if (!type.is_ok()) continue;
    row->names.emplace_back(part.substr(0, at));
    row->children.push_back(std::move(type).value());
    return Status::ok();
  }
  return Status::invalid("'" + std::string(part) + "' is no field of a row");
}

Result<ValueType> parse_row(std::string_view text, std::string_view body, int depth) {
  ValueType type{ValueKind::kRow, std::string(text), {}, {}};
  for (const std::string_view part : split(body)) {
    PENSTOCK_RETURN_NOT_OK(
        parse_field(part, depth, &type).with_context("'" + std::string(text) + "'"));
  }
  return type;
}

Result<ValueType> parse_at(std::string_view text, int depth) {
  if (depth > kMaxDepth) return Status::invalid("a type of state values is nested too deeply");
  for (const auto& [name, kind] : kBasics) {
    if (text == name) return ValueType{kind, std::string(text), {}, {}};
  }
  if (const auto body = inside(text, "ROW")) return parse_row(text, *body, depth);
  for (const auto& [prefix, kind] :
       {std::pair{"TUPLE", ValueKind::kTuple}, std::pair{"LIST", ValueKind::kList},
        std::pair{"MAP", ValueKind::kMap}}) {
    if (const auto body = inside(text, prefix)) return parse_children(text, kind, *body, depth);
  }
  return not_understood(text);
}

}  // namespace

Result<ValueType> ValueType::parse(std::string_view text) { return parse_at(text, 0); }

}  // namespace penstock
