#include "state/heap/heap_snapshot.h"

#include <string>
#include <utility>

#include "snapshot/bytes.h"
#include "state/canonical.h"
#include "state/heap/by_key_group.h"
#include "state/heap/map_tree.h"

namespace penstock {

namespace {

using VisitGroup = std::function<Status(int32_t group, std::string_view entries)>;

void put_entry(std::string_view key, std::string_view name_space, std::string_view value,
               std::string* out) {
  put_bytes(out, key);
  put_bytes(out, name_space);
  put_bytes(out, value);
}

// Calls `visit` for each group that `write` writes something for.
template <typename Entry, typename Write>
Status visit_groups(const ByKeyGroup<Entry>& sorted, int32_t max_parallelism,
                    const VisitGroup& visit, Write&& write) {
  constexpr size_t kAhead = 16;
  std::string bytes;
  for (int32_t group = 0; group < max_parallelism; ++group) {
    const auto entries = sorted.group(group);
    bytes.clear();
    for (size_t i = 0; i < entries.size(); ++i) {
      if (i + kAhead < entries.size()) __builtin_prefetch(entries[i + kAhead]);
      PENSTOCK_RETURN_NOT_OK(write(*entries[i], &bytes));
    }
    if (!bytes.empty()) PENSTOCK_RETURN_NOT_OK(visit(group, bytes));
  }
  return Status::ok();
}

class DeferredEntries final : public DeferredKeyedState {
 public:
  DeferredEntries(StateMeta meta, EntrySnapshot entries, int32_t max_parallelism,
                  std::optional<TtlCutoff> cutoff)
      : meta_(std::move(meta)),
        entries_(std::move(entries)),
        max_parallelism_(max_parallelism),
        cutoff_(cutoff) {}

  [[nodiscard]] const StateMeta& meta() const override { return meta_; }

  Status for_each_group(const VisitGroup& visit) const override {
    const ByKeyGroup<Entry> sorted(max_parallelism_, [this](auto&& one) { entries_.visit(one); });
    return visit_groups(sorted, max_parallelism_, visit,
                        [this](const Entry& entry, std::string* out) { return write(entry, out); });
  }

 private:
  Status write(const Entry& entry, std::string* out) const {
    if (entry.value_tag != kTreeTag) return write_value(entry, entry.value_view(), out);
    Status status;
    std::string value;
    MapTree tree = MapTree::adopt(entry.value.out.pointer);
    tree.visit([&](const MapEntry& in_map) {
      value.clear();
      append_user_entry(in_map.user_key(), in_map.user_value(), &value);
      status = write_value(entry, value, out);
      return status.is_ok();
    });
    (void)tree.detach();
    return status;
  }

  Status write_value(const Entry& entry, std::string_view value, std::string* out) const {
    std::string kept;
    if (cutoff_) {
      bool left = false;
      PENSTOCK_RETURN_NOT_OK(drop_expired(meta_.kind, *cutoff_, value, &kept, &left));
      if (!left) return Status::ok();
      value = kept;
    }
    put_entry(entry.key_view(), entry.name_space(), value, out);
    return Status::ok();
  }

  const StateMeta meta_;
  const EntrySnapshot entries_;
  const int32_t max_parallelism_;
  const std::optional<TtlCutoff> cutoff_;
};

class DeferredTimers final : public DeferredKeyedState {
 public:
  DeferredTimers(StateMeta meta, TimerTree timers, int32_t max_parallelism)
      : meta_(std::move(meta)), timers_(std::move(timers)), max_parallelism_(max_parallelism) {}

  [[nodiscard]] const StateMeta& meta() const override { return meta_; }

  Status for_each_group(const VisitGroup& visit) const override {
    const ByKeyGroup<TimerEntry> sorted(max_parallelism_, [this](auto&& one) {
      timers_.visit([&one](const TimerEntry& timer) {
        one(timer);
        return true;
      });
    });
    return visit_groups(sorted, max_parallelism_, visit,
                        [](const TimerEntry& timer, std::string* out) {
                          std::string value;
                          put_u64(&value, static_cast<uint64_t>(timer.timestamp));
                          put_entry(timer.key(), timer.name_space(), value, out);
                          return Status::ok();
                        });
  }

 private:
  const StateMeta meta_;
  const TimerTree timers_;
  const int32_t max_parallelism_;
};

}  // namespace

std::shared_ptr<const DeferredKeyedState> defer_entries(StateMeta meta, EntrySnapshot entries,
                                                        int32_t max_parallelism,
                                                        std::optional<TtlCutoff> cutoff) {
  return std::make_shared<DeferredEntries>(std::move(meta), std::move(entries), max_parallelism,
                                           cutoff);
}

std::shared_ptr<const DeferredKeyedState> defer_timers(StateMeta meta, TimerTree timers,
                                                       int32_t max_parallelism) {
  return std::make_shared<DeferredTimers>(std::move(meta), std::move(timers), max_parallelism);
}

}  // namespace penstock
