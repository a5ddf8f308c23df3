// HugeVector: a std::vector whose memory lies on huge pages once there is much of it.
//
// Tables of many keys are read at random places. On pages of 4 KB almost every such read also
// misses the TLB, which costs as much as the cache miss itself. Huge pages are only asked for:
// where the system has none, memory is as it always is.
//
// Thread safety: as std::vector.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <vector>

namespace penstock::window {

inline constexpr size_t kHugePageBytes = size_t{2} << 20;
// From this size on: what is rounded up to whole pages is then at most half as much again.
inline constexpr size_t kHugeFromBytes = 2 * kHugePageBytes;

template <typename T>
class HugeAllocator {
 public:
  using value_type = T;
  HugeAllocator() = default;
  template <typename U>
  HugeAllocator(const HugeAllocator<U>&) {}  // NOLINT: implicit as allocators' are

  [[nodiscard]] T* allocate(size_t count) {
    const size_t bytes = count * sizeof(T);
    if (bytes < kHugeFromBytes) return static_cast<T*>(::operator new(bytes));
    const size_t whole = (bytes + kHugePageBytes - 1) / kHugePageBytes * kHugePageBytes;
    void* const memory = ::operator new(whole, std::align_val_t{kHugePageBytes});
    (void)::madvise(memory, whole, MADV_HUGEPAGE);
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, size_t count) {
    if (count * sizeof(T) < kHugeFromBytes) {
      ::operator delete(memory);
    } else {
      ::operator delete(memory, std::align_val_t{kHugePageBytes});
    }
  }

  friend bool operator==(const HugeAllocator&, const HugeAllocator&) { return true; }
};

template <typename T>
using HugeVector = std::vector<T, HugeAllocator<T>>;

}  // namespace penstock::window
