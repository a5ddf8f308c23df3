#include "operators/window/deferred_slices.h"

#include <algorithm>
#include <utility>

#include "record/key_group.h"
#include "snapshot/bytes.h"

namespace penstock::window {

namespace {

// Small: the subtask's thread waits while one is copied.
constexpr size_t kBlockGroups = 32 * FrozenTable::kChunkGroups;

// Calls `visit(block, first group)` for one block after the other.
template <typename Visit>
Status for_each_block(const FrozenTable& table, Visit visit) {
  for (size_t from = 0; from < table.size(); from += kBlockGroups) {
    PENSTOCK_ASSIGN_OR_RETURN(FrozenBlock block,
                              table.read(from, std::min(kBlockGroups, table.size() - from)));
    PENSTOCK_RETURN_NOT_OK(visit(&block, from));
  }
  return Status::ok();
}

}  // namespace

Status DeferredSlices::find_key_groups(KeyGroups* out) const {
  for (const Slice& slice : slices_) {
    std::vector<uint16_t>& key_groups = out->emplace_back();
    key_groups.reserve(slice.table->size());
    for (size_t from = 0; from < slice.table->size(); from += kBlockGroups) {
      PENSTOCK_ASSIGN_OR_RETURN(
          const KeyCopy keys,
          slice.table->read_keys(from, std::min(kBlockGroups, slice.table->size() - from)));
      PENSTOCK_ASSIGN_OR_RETURN(const std::vector<uint32_t> hashes, keys.hash());
      for (const uint32_t hash : hashes)
        key_groups.push_back(static_cast<uint16_t>(key_group_of(hash, max_parallelism_)));
    }
  }
  return Status::ok();
}

std::vector<DeferredSlices::Range> DeferredSlices::passes(const KeyGroups& key_groups) const {
  std::vector<uint64_t> counts(static_cast<size_t>(max_parallelism_), 0);
  for (const auto& slice : key_groups) {
    for (const uint16_t key_group : slice) ++counts[key_group];
  }
  std::vector<Range> ranges;
  uint64_t total = 0;
  for (int32_t key_group = 0; key_group < max_parallelism_; ++key_group) {
    const uint64_t count = counts[static_cast<size_t>(key_group)];
    total += count;
    if (ranges.empty() || total > entries_per_pass_) {
      ranges.push_back({key_group, key_group});
      total = count;
    }
    ranges.back().last = key_group;
  }
  return ranges;
}

Status DeferredSlices::read_block(FrozenBlock* block, const std::vector<int32_t>& rows,
                                  const std::string& name_space, const uint16_t* key_groups,
                                  int32_t first_key_group, std::vector<std::string>* entries) {
  PENSTOCK_ASSIGN_OR_RETURN(const EncodedKeys keys, block->keys().encode(rows));
  std::string value;
  for (size_t i = 0; i < rows.size(); ++i) {
    value.clear();
    block->serialise(static_cast<size_t>(rows[i]), &value);
    std::string& out = (*entries)[static_cast<size_t>(key_groups[rows[i]] - first_key_group)];
    put_bytes(&out, keys.bytes.bytes_at(static_cast<int64_t>(i)));
    put_bytes(&out, name_space);
    put_bytes(&out, value);
  }
  return Status::ok();
}

Status DeferredSlices::read(const Range& range, const KeyGroups& key_groups,
                            std::vector<std::string>* entries) const {
  std::vector<int32_t> rows;
  for (size_t s = 0; s < slices_.size(); ++s) {
    PENSTOCK_RETURN_NOT_OK(
        for_each_block(*slices_[s].table, [&](FrozenBlock* block, size_t from) -> Status {
          const uint16_t* const of_block = key_groups[s].data() + from;
          rows.clear();
          for (size_t i = 0; i < block->size(); ++i) {
            if (of_block[i] >= range.first && of_block[i] <= range.last)
              rows.push_back(static_cast<int32_t>(i));
          }
          return read_block(block, rows, slices_[s].name_space, of_block, range.first, entries);
        }));
  }
  return Status::ok();
}

Status DeferredSlices::for_each_group(
    const std::function<Status(int32_t group, std::string_view entries)>& visit) const {
  KeyGroups key_groups;
  PENSTOCK_RETURN_NOT_OK(find_key_groups(&key_groups));
  for (const Range& range : passes(key_groups)) {
    std::vector<std::string> entries(static_cast<size_t>(range.last - range.first + 1));
    PENSTOCK_RETURN_NOT_OK(read(range, key_groups, &entries));
    for (size_t i = 0; i < entries.size(); ++i) {
      if (entries[i].empty()) continue;
      PENSTOCK_RETURN_NOT_OK(visit(range.first + static_cast<int32_t>(i), entries[i]));
      entries[i] = {};
    }
  }
  return Status::ok();
}

}  // namespace penstock::window
