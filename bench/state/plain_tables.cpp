// What state is compared with: the loop that somebody would write by hand, and the standard's table.
#include <algorithm>
#include <memory>
#include <unordered_map>

#include "bench/state/bench.h"

namespace penstock::bench {

namespace {

// Open addressing, linear probing; never grows.
class FlatTable {
 public:
  explicit FlatTable(int64_t keys) {
    while (cells_ < 2 * keys) cells_ *= 2;
    table_ = std::make_unique<Cell[]>(static_cast<size_t>(cells_));
    far_ = cells_ * static_cast<int64_t>(sizeof(Cell)) > (4 << 20);
  }

  void add(const int64_t* keys, const int64_t* values, int64_t rows) {
    uint32_t hashes[kBatchRows];
    const auto mask = static_cast<uint64_t>(cells_ - 1);
    for (int64_t i = 0; i < rows; ++i) {
      hashes[i] =
          static_cast<uint32_t>((static_cast<uint64_t>(keys[i]) * 0x9e3779b97f4a7c15U) >> 32);
    }
    for (int64_t i = 0; i < rows; ++i) {
      if (far_ && i + kAhead < rows) __builtin_prefetch(&table_[hashes[i + kAhead] & mask], 1);
      uint64_t at = hashes[i] & mask;
      while (table_[at].count != 0 && (table_[at].key != keys[i] || table_[at].slice != kSlice)) {
        at = (at + 1) & mask;
      }
      Cell& cell = table_[at];
      cell.key = keys[i];
      cell.slice = kSlice;
      ++cell.count;
      cell.sum += values[i];
    }
  }

  [[nodiscard]] uint64_t digest() const {
    uint64_t sum = 0;
    for (int64_t i = 0; i < cells_; ++i) {
      const Cell& cell = table_[static_cast<size_t>(i)];
      if (cell.count != 0) sum += digest_of(cell.key, {cell.count, cell.sum});
    }
    return sum;
  }

 private:
  static constexpr int64_t kAhead = 16;
  static constexpr int64_t kSlice = 7;
  struct Cell {
    int64_t key = 0;
    int64_t slice = 0;
    int64_t count = 0;
    int64_t sum = 0;
  };
  int64_t cells_ = 16;
  bool far_ = false;  // too large for the processor's caches
  std::unique_ptr<Cell[]> table_;
};

}  // namespace

void run_hand_written(const Options& options) {
  std::vector<FlatTable> tables;
  for (int i = 0; i < options.threads; ++i) tables.emplace_back(options.keys / options.threads + 1);
  measure_rows(
      options,
      [&](int thread, Rows* rows) {
        FlatTable& table = tables[static_cast<size_t>(thread)];
        const auto all = static_cast<int64_t>(rows->keys.size());
        for (int64_t from = 0; from < all; from += kBatchRows) {
          table.add(rows->keys.data() + from, rows->values.data() + from,
                    std::min(kBatchRows, all - from));
        }
      },
      [&](int thread) { return tables[static_cast<size_t>(thread)].digest(); });
}

void run_unordered_map(const Options& options) {
  std::vector<std::unordered_map<int64_t, CountSum>> tables(static_cast<size_t>(options.threads));
  measure_rows(
      options,
      [&](int thread, Rows* rows) {
        auto& table = tables[static_cast<size_t>(thread)];
        for (size_t i = 0; i < rows->keys.size(); ++i) {
          CountSum& value = table[rows->keys[i]];
          ++value.count;
          value.sum += rows->values[i];
        }
      },
      [&](int thread) {
        uint64_t sum = 0;
        for (const auto& [key, value] : tables[static_cast<size_t>(thread)]) {
          sum += digest_of(key, value);
        }
        return sum;
      });
}

}  // namespace penstock::bench
