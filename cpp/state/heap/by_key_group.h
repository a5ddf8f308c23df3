// ByKeyGroup: entries that lie in no particular order, sorted by key group, by pointer: eight bytes
// for each. Entries of one group keep their order.
//
// Thread safety: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "record/key_group.h"

namespace penstock {

// Entry has `hash`, the murmur of its key, and key_size(); an empty key is of group 0.
template <typename Entry>
class ByKeyGroup {
 public:
  // `visit_all` takes a function of const Entry& and calls it for all entries; it is called twice.
  template <typename VisitAll>
  ByKeyGroup(int32_t max_parallelism, VisitAll&& visit_all)
      : ends_(static_cast<size_t>(max_parallelism) + 1) {
    const auto group_of = [max_parallelism](const Entry& entry) {
      return static_cast<size_t>(entry.key_size() == 0 ? 0
                                                       : key_group_of(entry.hash, max_parallelism));
    };
    visit_all([&](const Entry& entry) { ++ends_[group_of(entry) + 1]; });
    for (size_t i = 1; i < ends_.size(); ++i) ends_[i] += ends_[i - 1];
    entries_.resize(ends_.back());
    // Now ends_[g] is where group g begins; filling moves it to where it ends.
    visit_all([&](const Entry& entry) { entries_[ends_[group_of(entry)]++] = &entry; });
  }

  [[nodiscard]] std::span<const Entry* const> group(int32_t number) const {
    const auto at = static_cast<size_t>(number);
    const size_t begin = at == 0 ? 0 : ends_[at - 1];
    return {entries_.data() + begin, ends_[at] - begin};
  }

 private:
  std::vector<size_t> ends_;
  std::vector<const Entry*> entries_;
};

}  // namespace penstock
