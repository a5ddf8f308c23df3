// DeferredSlices: frozen slices, read out by key group in the form of window_snapshot.h.
//
// Entries come in the order of the slices and, within one, of its groups. They are not sorted by
// key group, so the slices are gone through once to count and then once for every kEntriesPerPass
// entries: that much is in memory at a time, however large the state.
//
// Thread safety: as DeferredKeyedState.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "operators/window/frozen_table.h"
#include "snapshot/operator_state.h"

namespace penstock::window {

class DeferredSlices final : public DeferredKeyedState {
 public:
  struct Slice {
    std::string name_space;
    std::shared_ptr<const FrozenTable> table;
  };
  static constexpr uint64_t kEntriesPerPass = uint64_t{1} << 21;

  DeferredSlices(StateMeta meta, int32_t max_parallelism, std::vector<Slice> slices,
                 uint64_t entries_per_pass = kEntriesPerPass)
      : meta_(std::move(meta)),
        max_parallelism_(max_parallelism),
        slices_(std::move(slices)),
        entries_per_pass_(entries_per_pass) {}

  [[nodiscard]] const StateMeta& meta() const override { return meta_; }
  Status for_each_group(
      const std::function<Status(int32_t group, std::string_view entries)>& visit) const override;

 private:
  // The key group of every entry: [slice][group id].
  using KeyGroups = std::vector<std::vector<uint16_t>>;
  struct Range {  // of key groups, both included
    int32_t first;
    int32_t last;
  };
  Status find_key_groups(KeyGroups* out) const;
  // Cut so that each but one of a single key group has at most entries_per_pass_ entries.
  [[nodiscard]] std::vector<Range> passes(const KeyGroups& key_groups) const;
  // Appends the entries of key group `range.first` + i to (*entries)[i].
  Status read(const Range& range, const KeyGroups& key_groups,
              std::vector<std::string>* entries) const;
  static Status read_block(FrozenBlock* block, const std::vector<int32_t>& rows,
                           const std::string& name_space, const uint16_t* key_groups,
                           int32_t first_key_group, std::vector<std::string>* entries);

  StateMeta meta_;
  int32_t max_parallelism_;
  std::vector<Slice> slices_;
  uint64_t entries_per_pass_;
};

}  // namespace penstock::window
