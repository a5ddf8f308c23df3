#include "state/ttl/ttl_format.h"

#include "state/canonical.h"

namespace penstock {

namespace {

// Appends to `out` what `change(part, &changed)` makes of each part of `value` that has a timestamp
// of its own; parts for which `change` leaves `changed` empty-handed (`keep` false) are left out.
template <typename Change>
Status change_parts(StateKind kind, std::string_view value, std::string* out, bool* left,
                    Change&& change) {
  std::string changed;
  bool keep = true;
  *left = false;
  if (kind == StateKind::kList) {
    return for_each_element(value, [&](std::string_view element) {
      changed.clear();
      PENSTOCK_RETURN_NOT_OK(change(element, &changed, &keep));
      if (keep) put_bytes(out, changed);
      *left = *left || keep;
      return Status::ok();
    });
  }
  std::string_view user_key;
  if (kind == StateKind::kMap) PENSTOCK_RETURN_NOT_OK(split_user_entry(value, &user_key, &value));
  PENSTOCK_RETURN_NOT_OK(change(value, &changed, &keep));
  *left = keep;
  if (!keep) return Status::ok();
  if (kind == StateKind::kMap) put_bytes(out, user_key);
  out->append(changed);
  return Status::ok();
}

}  // namespace

Status drop_expired(StateKind kind, const TtlCutoff& cutoff, std::string_view value,
                    std::string* out, bool* left) {
  return change_parts(kind, value, out, left,
                      [&cutoff](std::string_view part, std::string* changed, bool* keep) {
                        int64_t timestamp = 0;
                        std::string_view payload;
                        PENSTOCK_RETURN_NOT_OK(split_ttl_value(part, &timestamp, &payload));
                        *keep = !is_expired(timestamp, cutoff.ttl_millis, cutoff.now);
                        changed->append(part);
                        return Status::ok();
                      });
}

Status add_timestamps(StateKind kind, int64_t timestamp, std::string_view value, std::string* out) {
  bool left = false;
  return change_parts(kind, value, out, &left,
                      [timestamp](std::string_view part, std::string* changed, bool*) {
                        append_ttl_value(timestamp, part, changed);
                        return Status::ok();
                      });
}

Status strip_timestamps(StateKind kind, std::string_view value, std::string* out) {
  bool left = false;
  return change_parts(kind, value, out, &left,
                      [](std::string_view part, std::string* changed, bool*) {
                        int64_t timestamp = 0;
                        std::string_view payload;
                        PENSTOCK_RETURN_NOT_OK(split_ttl_value(part, &timestamp, &payload));
                        changed->append(payload);
                        return Status::ok();
                      });
}

}  // namespace penstock
