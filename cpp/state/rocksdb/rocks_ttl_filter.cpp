#include "state/rocksdb/rocks_ttl_filter.h"

#include <optional>
#include <string>
#include <utility>

#include "snapshot/bytes.h"
#include "state/rocksdb/list_bytes.h"
#include "state/rocksdb/rocks_keys.h"

namespace penstock {

namespace {

class TtlFilter final : public rocksdb::CompactionFilter {
 public:
  TtlFilter(bool is_list, int64_t ttl_millis, int64_t query_time_after,
            std::shared_ptr<DetachableClock> clock)
      : is_list_(is_list),
        ttl_millis_(ttl_millis),
        query_time_after_(query_time_after),
        clock_(std::move(clock)) {}

  Decision FilterV2(int /*level*/, const rocksdb::Slice& /*key*/, ValueType type,
                    const rocksdb::Slice& value, std::string* new_value,
                    std::string* /*skip_until*/) const override {
    ask_for_time();
    if (!now_) return Decision::kKeep;
    // A part of a list is left alone: it may be read only behind what comes before it.
    if (type != ValueType::kValue) return Decision::kKeep;
    if (!is_list_) return has_expired(to_view(value)) ? Decision::kRemove : Decision::kKeep;
    return filter_list(to_view(value), new_value);
  }

  const char* Name() const override { return "penstock.ttl"; }

 private:
  Decision filter_list(std::string_view list, std::string* new_value) const {
    bool changed = false;
    new_value->clear();
    const bool is_list = for_each_list_element(list, [&](std::string_view element) {
      if (has_expired(element)) {
        changed = true;
      } else {
        append_list_element(element, new_value);
      }
    });
    if (!is_list || !changed) return Decision::kKeep;
    return new_value->empty() ? Decision::kRemove : Decision::kChangeValue;
  }

  // What is too short to have a timestamp is kept: whoever reads it will say that it is damaged.
  [[nodiscard]] bool has_expired(std::string_view value) const {
    ByteReader reader(value);
    uint64_t touched = 0;
    if (!reader.get_u64(&touched)) return false;
    const auto since = static_cast<int64_t>(touched);
    // Without overflow, whatever the timestamp.
    return since <= *now_ &&
           static_cast<uint64_t>(*now_) - touched >= static_cast<uint64_t>(ttl_millis_);
  }

  // One compaction, one thread: so this may remember the time although RocksDB calls it const.
  void ask_for_time() const {
    if (left_-- > 0) return;
    left_ = query_time_after_ - 1;
    now_ = clock_->now_millis();
  }

  const bool is_list_;
  const int64_t ttl_millis_;
  const int64_t query_time_after_;
  const std::shared_ptr<DetachableClock> clock_;
  mutable int64_t left_ = 0;
  mutable std::optional<int64_t> now_;
};

class TtlFilterFactory final : public rocksdb::CompactionFilterFactory {
 public:
  TtlFilterFactory(bool is_list, std::shared_ptr<TtlFilterSettings> settings,
                   std::shared_ptr<DetachableClock> clock)
      : is_list_(is_list), settings_(std::move(settings)), clock_(std::move(clock)) {}

  std::unique_ptr<rocksdb::CompactionFilter> CreateCompactionFilter(
      const rocksdb::CompactionFilter::Context& /*context*/) override {
    const int64_t ttl = settings_->ttl_millis.load();
    if (ttl <= 0) return nullptr;
    return std::make_unique<TtlFilter>(is_list_, ttl, settings_->query_time_after.load(), clock_);
  }

  const char* Name() const override { return "penstock.ttl.factory"; }

 private:
  const bool is_list_;
  const std::shared_ptr<TtlFilterSettings> settings_;
  const std::shared_ptr<DetachableClock> clock_;
};

}  // namespace

std::shared_ptr<rocksdb::CompactionFilterFactory> make_ttl_filter_factory(
    const StateMeta& meta, const std::shared_ptr<TtlFilterSettings>& settings,
    const std::shared_ptr<DetachableClock>& clock) {
  if (meta.kind == StateKind::kTimers || meta.kind == StateKind::kWindowContents) return nullptr;
  if (meta.value_type.find("TTL<") == std::string::npos) return nullptr;
  return std::make_shared<TtlFilterFactory>(meta.kind == StateKind::kList, settings, clock);
}

}  // namespace penstock
