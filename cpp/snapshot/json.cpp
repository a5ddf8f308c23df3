#include "snapshot/json.h"

#include <charconv>
#include <limits>

namespace penstock {

namespace {

constexpr int kMaxDepth = 32;  // metadata has 3; keeps a damaged text from exhausting the stack

void dump_string(const std::string& text, std::string* out) {
  constexpr char kHex[] = "0123456789abcdef";
  out->push_back('"');
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out->push_back('\\');
      out->push_back(c);
    } else if (byte < 0x20) {
      out->append("\\u00");
      out->push_back(kHex[byte >> 4]);
      out->push_back(kHex[byte & 15]);
    } else {
      out->push_back(c);
    }
  }
  out->push_back('"');
}

// UTF-8 of a code point below 0x10000.
void append_utf8(uint32_t code, std::string* out) {
  if (code < 0x80) {
    out->push_back(static_cast<char>(code));
  } else if (code < 0x800) {
    out->push_back(static_cast<char>(0xc0 | (code >> 6)));
    out->push_back(static_cast<char>(0x80 | (code & 0x3f)));
  } else {
    out->push_back(static_cast<char>(0xe0 | (code >> 12)));
    out->push_back(static_cast<char>(0x80 | ((code >> 6) & 0x3f)));
    out->push_back(static_cast<char>(0x80 | (code & 0x3f)));
  }
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<Json> parse() {
    PENSTOCK_ASSIGN_OR_RETURN(Json value, parse_value(0));
    skip_space();
    if (at_ != text_.size()) return mistake("the end");
    return value;
  }

 private:
  Result<Json> parse_value(int depth) {
    skip_space();
    if (depth > kMaxDepth) return mistake("less nesting");
    if (take_word("null")) return Json();
    if (take_word("true")) return Json(true);
    if (take_word("false")) return Json(false);
    if (take('[')) return parse_array(depth);
    if (take('{')) return parse_object(depth);
    if (peek() == '"') {
      PENSTOCK_ASSIGN_OR_RETURN(std::string text, parse_string());
      return Json(std::move(text));
    }
    return parse_integer();
  }

  Result<Json> parse_array(int depth) {
    Json::Array items;
    skip_space();
    if (take(']')) return Json(std::move(items));
    while (true) {
      PENSTOCK_ASSIGN_OR_RETURN(Json item, parse_value(depth + 1));
      items.push_back(std::move(item));
      skip_space();
      if (take(']')) return Json(std::move(items));
      if (!take(',')) return mistake("',' or ']'");
    }
  }

  Result<Json> parse_object(int depth) {
    Json::Object members;
    skip_space();
    if (take('}')) return Json(std::move(members));
    while (true) {
      skip_space();
      PENSTOCK_ASSIGN_OR_RETURN(std::string name, parse_string());
      skip_space();
      if (!take(':')) return mistake("':'");
      PENSTOCK_ASSIGN_OR_RETURN(Json value, parse_value(depth + 1));
      members.emplace_back(std::move(name), std::move(value));
      skip_space();
      if (take('}')) return Json(std::move(members));
      if (!take(',')) return mistake("',' or '}'");
    }
  }

  Result<Json> parse_integer() {
    int64_t value = 0;
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error != std::errc()) return mistake("a value");
    at_ += static_cast<size_t>(end - begin);
    if (peek() == '.' || peek() == 'e' || peek() == 'E') return mistake("an integer");
    return Json(value);
  }

  Result<std::string> parse_string() {
    if (!take('"')) return mistake("'\"'");
    std::string out;
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '"') return out;
      if (c != '\\') {
        out.push_back(c);
      } else if (!parse_escape(&out)) {
        return mistake("an escape");
      }
    }
    return mistake("the end of a string");
  }

  bool parse_escape(std::string* out) {
    constexpr std::string_view kLetters = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    const char letter = peek();
    ++at_;
    if (const size_t i = kLetters.find(letter); letter != '\0' && i != std::string_view::npos) {
      out->push_back(kMeanings[i]);
      return true;
    }
    if (letter != 'u' || at_ + 4 > text_.size()) return false;
    uint32_t code = 0;
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, begin + 4, code, 16);
    // Surrogate pairs are never written by us: text goes out as UTF-8.
    if (error != std::errc() || end != begin + 4 || (code >= 0xd800 && code < 0xe000)) return false;
    at_ += 4;
    append_utf8(code, out);
    return true;
  }

  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool take_word(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  void skip_space() {
    while (at_ < text_.size() &&
           std::string_view(" \t\r\n").find(text_[at_]) != std::string::npos) {
      ++at_;
    }
  }
  [[nodiscard]] Status mistake(const std::string& expected) const {
    return Status::corruption("JSON: expected " + expected + " at byte " + std::to_string(at_));
  }

  const std::string_view text_;
  size_t at_ = 0;
};

Status wrong_member(std::string_view name, const std::string& type) {
  return Status::corruption("JSON: member '" + std::string(name) + "' is missing or is no " + type);
}

template <typename Items, typename Dump>
void dump_list(const Items& items, char open, char close, std::string* out, const Dump& dump_one) {
  out->push_back(open);
  bool first = true;
  for (const auto& item : items) {
    if (!first) out->append(", ");
    first = false;
    dump_one(item);
  }
  out->push_back(close);
}

}  // namespace

Result<Json> Json::parse(std::string_view text) { return Parser(text).parse(); }

std::string Json::dump() const {
  std::string out;
  if (const auto* flag = std::get_if<bool>(&value_)) {
    out = *flag ? "true" : "false";
  } else if (const auto* number = std::get_if<int64_t>(&value_)) {
    out = std::to_string(*number);
  } else if (const auto* text = std::get_if<std::string>(&value_)) {
    dump_string(*text, &out);
  } else if (const auto* array = std::get_if<Array>(&value_)) {
    dump_list(*array, '[', ']', &out, [&](const Json& item) { out += item.dump(); });
  } else if (const auto* object = std::get_if<Object>(&value_)) {
    dump_list(*object, '{', '}', &out, [&](const auto& member) {
      dump_string(member.first, &out);
      out += ": " + member.second.dump();
    });
  } else {
    out = "null";
  }
  return out;
}

const Json* Json::find(std::string_view name) const {
  const auto* object = std::get_if<Object>(&value_);
  if (object == nullptr) return nullptr;
  for (const auto& [key, value] : *object) {
    if (key == name) return &value;
  }
  return nullptr;
}

Result<int64_t> Json::get_int(std::string_view name) const {
  const Json* member = find(name);
  const auto* value = member != nullptr ? std::get_if<int64_t>(&member->value_) : nullptr;
  if (value == nullptr) return wrong_member(name, "integer");
  return *value;
}

Result<int32_t> Json::get_int32(std::string_view name) const {
  PENSTOCK_ASSIGN_OR_RETURN(const int64_t value, get_int(name));
  if (value < std::numeric_limits<int32_t>::min() || value > std::numeric_limits<int32_t>::max()) {
    return wrong_member(name, "32-bit integer");
  }
  return static_cast<int32_t>(value);
}

Result<bool> Json::get_bool(std::string_view name) const {
  const Json* member = find(name);
  const auto* value = member != nullptr ? std::get_if<bool>(&member->value_) : nullptr;
  if (value == nullptr) return wrong_member(name, "bool");
  return *value;
}

Result<std::string> Json::get_string(std::string_view name) const {
  const Json* member = find(name);
  const auto* value = member != nullptr ? std::get_if<std::string>(&member->value_) : nullptr;
  if (value == nullptr) return wrong_member(name, "string");
  return *value;
}

Result<const Json::Array*> Json::get_array(std::string_view name) const {
  const Json* member = find(name);
  const auto* value = member != nullptr ? std::get_if<Array>(&member->value_) : nullptr;
  if (value == nullptr) return wrong_member(name, "array");
  return value;
}

}  // namespace penstock
