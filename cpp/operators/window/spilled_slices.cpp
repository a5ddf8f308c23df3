#include "operators/window/spilled_slices.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "operators/backend_context.h"
#include "operators/window/deferred_slices.h"
#include "operators/window/window_snapshot.h"
#include "record/key_encoding.h"
#include "snapshot/bytes.h"
#include "state/rocksdb/slice_keys.h"

namespace penstock::window {

namespace {

// Few: they are held beside the table that they are read from.
constexpr uint64_t kEntriesPerPass = uint64_t{1} << 18;
constexpr size_t kLoadGroups = 4096;

struct RunEntry {
  uint64_t order;  // the key's second to ninth byte, so that ints need no look at the rest
  std::string_view key;
  std::string_view value;
};

uint64_t order_of(std::string_view key) {
  uint64_t order = 0;
  for (size_t i = 1; i < 9; ++i)
    order = order << 8 | (i < key.size() ? static_cast<uint8_t>(key[i]) : 0U);
  return order;
}

// Adds the entries of one key group, sorted.
Status add_sorted(int32_t group, Timestamp end, std::string_view entries,
                  std::vector<RunEntry>* sorted, const BlindMergeStore::Add& add) {
  sorted->clear();
  ByteReader reader(entries);
  while (!reader.at_end()) {
    RunEntry entry{};
    std::string_view name_space;
    if (!reader.get_bytes(&entry.key) || !reader.get_bytes(&name_space) ||
        !reader.get_bytes(&entry.value)) {
      return Status::internal("a frozen slice gave out entries whose lengths do not add up");
    }
    entry.order = order_of(entry.key);
    sorted->push_back(entry);
  }
  // All keys of a window are of the same type, so their first bytes are the same but for nulls.
  std::sort(sorted->begin(), sorted->end(), [](const RunEntry& a, const RunEntry& b) {
    const char first_a = a.key.empty() ? '\0' : a.key[0];
    const char first_b = b.key.empty() ? '\0' : b.key[0];
    if (first_a != first_b) return first_a < first_b;
    return a.order != b.order ? a.order < b.order : a.key < b.key;
  });
  std::string key = slice_prefix(group, end);
  for (const RunEntry& entry : *sorted) {
    key.resize(kSlicePrefixBytes);
    key.append(entry.key);
    PENSTOCK_RETURN_NOT_OK(add(key, entry.value));
  }
  return Status::ok();
}

BlindMergeStore::Produce run_of(Timestamp end, std::shared_ptr<const FrozenTable> table,
                                int32_t max_parallelism) {
  auto slice = std::make_shared<DeferredSlices>(
      StateMeta{}, max_parallelism,
      std::vector<DeferredSlices::Slice>{{std::string(), std::move(table)}}, kEntriesPerPass);
  return [end, slice](const BlindMergeStore::Add& add) {
    std::vector<RunEntry> sorted;
    return slice->for_each_group([&](int32_t group, std::string_view entries) {
      return add_sorted(group, end, entries, &sorted, add);
    });
  };
}

}  // namespace

Result<std::unique_ptr<SpilledSlices>> SpilledSlices::open(
    const OperatorContext& context, WindowPlanPtr plan, const StateMeta& meta,
    const std::vector<NativeState>& restored) {
  auto combiner = std::make_shared<AccumulatorCombiner>(plan);
  PENSTOCK_ASSIGN_OR_RETURN(
      std::unique_ptr<BlindMergeStore> store,
      BlindMergeStore::open(backend_context(context), meta, std::move(combiner), restored));
  return std::unique_ptr<SpilledSlices>(
      new SpilledSlices(context, std::move(plan), std::move(store)));
}

SpilledSlices::SpilledSlices(const OperatorContext& context, WindowPlanPtr plan,
                             std::unique_ptr<BlindMergeStore> store)
    : plan_(std::move(plan)),
      key_groups_(context.key_groups()),
      max_parallelism_(context.max_parallelism),
      budget_(store->memory_budget()),
      store_(std::move(store)) {}

std::vector<std::string> SpilledSlices::prefixes(Timestamp end) const {
  std::vector<std::string> all;
  for (int32_t group = key_groups_.start; group <= key_groups_.end; ++group)
    all.push_back(slice_prefix(group, end));
  return all;
}

void SpilledSlices::write(Timestamp end, std::shared_ptr<SliceTable> table) {
  const auto kind =
      is_spilled(end) ? BlindMergeStore::RunKind::kMerge : BlindMergeStore::RunKind::kReplace;
  written_.emplace(end, false);
  last_run_ =
      store_->write_run(kind, run_of(end, FrozenTable::freeze(std::move(table)), max_parallelism_));
}

Status SpilledSlices::spill(Timestamp end, SliceTables* tables) {
  // One table at a time is on its way.
  PENSTOCK_RETURN_NOT_OK(store_->wait(last_run_));
  write(end, tables->take(end));
  written_[end] = true;
  return Status::ok();
}

Status SpilledSlices::make_room(size_t rows, SliceTables* tables) {
  PENSTOCK_RETURN_NOT_OK(store_->failure());
  while (tables->bytes_after(rows) > budget_) {
    const SliceTable* largest = nullptr;
    Timestamp largest_end = 0;
    for (const auto& [end, table] : tables->open()) {
      if (table->size() == 0) continue;
      if (largest != nullptr && table->bytes() <= largest->bytes()) continue;
      largest = table.get();
      largest_end = end;
    }
    if (largest == nullptr) return Status::ok();
    PENSTOCK_RETURN_NOT_OK(spill(largest_end, tables));
  }
  return Status::ok();
}

Status SpilledSlices::read(Timestamp end, SliceTables* tables, const Visit& visit) {
  if (tables->at(end)->size() != 0) PENSTOCK_RETURN_NOT_OK(spill(end, tables));
  PENSTOCK_RETURN_NOT_OK(store_->wait(last_run_));
  const AccumulatorSet set = make_accumulator_set(*plan_);
  std::string bytes;
  std::vector<size_t> ends;
  const auto flush = [&]() -> Status {
    if (ends.empty()) return Status::ok();
    std::vector<std::string_view> keys;
    size_t from = 0;
    for (const size_t key_end : ends) {
      keys.push_back(std::string_view(bytes).substr(from, key_end - from));
      from = key_end;
    }
    PENSTOCK_RETURN_NOT_OK(visit(keys, set));
    bytes.clear();
    ends.clear();
    for (const auto& accumulators : set) accumulators->clear();
    return Status::ok();
  };
  PENSTOCK_RETURN_NOT_OK(
      store_->scan(prefixes(end), [&](std::string_view key, std::string_view value) -> Status {
        if (ends.size() == kMaxEmitRows) PENSTOCK_RETURN_NOT_OK(flush());
        bytes.append(key.substr(kSlicePrefixBytes));
        ends.push_back(bytes.size());
        for (const auto& accumulators : set) accumulators->resize(ends.size());
        return read_value(value, ends.size() - 1, set);
      }));
  return flush();
}

void SpilledSlices::drop(Timestamp end) {
  if (written_.erase(end) != 0) store_->remove(prefixes(end));
}

Status SpilledSlices::snapshot(const SnapshotRequest& request, SliceTables* tables,
                               OperatorState* out) {
  PENSTOCK_RETURN_NOT_OK(store_->failure());
  for (const auto& [end, table] : tables->open()) {
    if (table->size() == 0) continue;
    write(end, is_spilled(end) ? tables->take(end) : table);
  }
  store_->snapshot(request, out);
  return Status::ok();
}

Result<std::vector<Timestamp>> SpilledSlices::stored_ends() const {
  std::vector<Timestamp> ends;
  std::string from = slice_prefix(key_groups_.start, kMinTimestamp);
  while (true) {
    PENSTOCK_ASSIGN_OR_RETURN(const std::optional<std::string> key, store_->first_key(from));
    if (!key.has_value()) break;
    SliceKeyParts parts;
    if (!split_slice_key(*key, &parts)) {
      return Status::corruption("state 'window-contents': a key of a window that is none");
    }
    ends.push_back(parts.end);
    from = slice_prefix_end(parts.group, parts.end);
  }
  std::sort(ends.begin(), ends.end());
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  return ends;
}

Result<bool> SpilledSlices::load_all(size_t budget, SliceTables* tables) {
  PENSTOCK_ASSIGN_OR_RETURN(const std::vector<Timestamp> ends, stored_ends());
  for (const Timestamp end : ends) {
    written_[end] = false;
    std::vector<std::string> bytes;  // key, value, key, value ...
    bool fits = true;
    const auto flush = [&]() -> Status {
      SliceEntries entries;
      for (size_t i = 0; i < bytes.size(); i += 2) {
        entries.keys.push_back(bytes[i]);
        entries.values.push_back(bytes[i + 1]);
      }
      PENSTOCK_RETURN_NOT_OK(restore_entries(entries, *plan_, tables->at(end)));
      bytes.clear();
      fits = tables->bytes() <= budget;
      return Status::ok();
    };
    Status scanned =
        store_->scan(prefixes(end), [&](std::string_view key, std::string_view value) -> Status {
          bytes.emplace_back(key.substr(kSlicePrefixBytes));
          bytes.emplace_back(value);
          if (bytes.size() < 2 * kLoadGroups) return Status::ok();
          PENSTOCK_RETURN_NOT_OK(flush());
          return fits ? Status::ok() : Status::internal("enough");  // seen by nobody
        });
    if (!fits) return false;
    PENSTOCK_RETURN_NOT_OK(scanned);
    PENSTOCK_RETURN_NOT_OK(flush());
    if (!fits) return false;
  }
  return true;
}

Status SpilledSlices::load(SliceTables* tables) {
  PENSTOCK_ASSIGN_OR_RETURN(const bool all, load_all(budget_ / 2, tables));
  if (all) return Status::ok();
  tables->clear();
  PENSTOCK_ASSIGN_OR_RETURN(const std::vector<Timestamp> ends, stored_ends());
  for (const Timestamp end : ends) {
    written_[end] = true;
    tables->at(end);
  }
  return Status::ok();
}

}  // namespace penstock::window
