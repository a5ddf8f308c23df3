#include "state/rocksdb/rocks_keys.h"

namespace penstock {

namespace {
constexpr char kEscape = '\0';
constexpr char kEscapedZero = '\xff';
constexpr char kEnd = '\x01';
}  // namespace

void append_timer_key(int32_t group, const TimerView& timer, std::string* out) {
  append_group(group, out);
  key_bytes::append_i64(timer.timestamp, out);
  for (const char c : timer.key) {
    out->push_back(c);
    if (c == kEscape) out->push_back(kEscapedZero);
  }
  out->push_back(kEscape);
  out->push_back(kEnd);
  out->append(timer.name_space);
}

bool split_timer_key(std::string_view bytes, TimerKeyParts* out) {
  out->group = group_of_key(bytes);
  if (out->group < 0) return false;
  KeyReader reader(bytes.substr(kGroupBytes));
  if (!reader.read_i64(&out->timestamp)) return false;
  const std::string_view rest = reader.rest();
  out->key.clear();
  for (size_t i = 0; i + 1 < rest.size(); ++i) {
    if (rest[i] != kEscape) {
      out->key.push_back(rest[i]);
    } else if (rest[++i] == kEscapedZero) {
      out->key.push_back(kEscape);
    } else if (rest[i] == kEnd) {
      out->name_space = rest.substr(i + 1);
      return true;
    } else {
      return false;
    }
  }
  return false;
}

}  // namespace penstock
