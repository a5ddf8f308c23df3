// LatencyTracker: how long accesses to a state take, of every so manieth one.
//
// Times fall into buckets that are a quarter of a power of two wide; a percentile is the upper end
// of the bucket it is in. Not tracking costs a comparison.
//
// Thread safety: none; belongs to the subtask's thread.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>

namespace penstock {

class LatencyHistogram {
 public:
  void add(uint64_t nanos) {
    ++counts_[bucket_of(nanos)];
    ++count_;
    greatest_ = std::max(greatest_, nanos);
  }
  [[nodiscard]] int64_t count() const { return static_cast<int64_t>(count_); }
  [[nodiscard]] int64_t greatest() const { return static_cast<int64_t>(greatest_); }
  // 0 without values.
  [[nodiscard]] int64_t percentile(double part) const {
    const auto wanted = static_cast<uint64_t>(part * static_cast<double>(count_));
    uint64_t seen = 0;
    for (size_t i = 0; i < counts_.size(); ++i) {
      seen += counts_[i];
      if (seen > wanted) return static_cast<int64_t>(std::min(end_of(i), greatest_));
    }
    return greatest();
  }

 private:
  static size_t bucket_of(uint64_t nanos) {
    if (nanos < 4) return static_cast<size_t>(nanos);
    const int power = 63 - std::countl_zero(nanos);
    return static_cast<size_t>(power - 1) * 4 + ((nanos >> (power - 2)) & 3);
  }
  static uint64_t end_of(size_t bucket) {
    if (bucket < 4) return bucket;
    const size_t power = bucket / 4 + 1;
    return ((4 + bucket % 4 + 1) << (power - 2)) - 1;
  }

  std::array<uint64_t, 256> counts_{};
  uint64_t count_ = 0;
  uint64_t greatest_ = 0;
};

class LatencyTracker {
 public:
  // 0: tracks nothing.
  explicit LatencyTracker(int64_t interval) : interval_(interval), left_(interval) {}

  // Times the scope that it is in, when its turn has come.
  class Scope {
   public:
    Scope(LatencyTracker* tracker, const char* operation) {
      if (tracker->interval_ == 0 || --tracker->left_ > 0) return;
      tracker->left_ = tracker->interval_;
      histogram_ = &tracker->histograms_[operation];
      begin_ = std::chrono::steady_clock::now();
    }
    ~Scope() {
      if (histogram_ == nullptr) return;
      const auto nanos = std::chrono::steady_clock::now() - begin_;
      histogram_->add(static_cast<uint64_t>(
          std::chrono::duration_cast<std::chrono::nanoseconds>(nanos).count()));
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    LatencyHistogram* histogram_ = nullptr;
    std::chrono::steady_clock::time_point begin_;
  };

  [[nodiscard]] const std::map<std::string, LatencyHistogram>& histograms() const {
    return histograms_;
  }

 private:
  const int64_t interval_;
  int64_t left_;
  std::map<std::string, LatencyHistogram> histograms_;  // by operation: "get"
};

}  // namespace penstock
