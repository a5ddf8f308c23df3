// The accumulators behind aggregates.h, as templates over physical types. Included by
// aggregates.cpp only.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "operators/window/aggregates.h"
#include "operators/window/column_build.h"
#include "operators/window/huge_vector.h"
#include "operators/window/key_index.h"

namespace penstock::window {

using Int128 = __int128;

// A decimal128 value where it lies: Arrow aligns it to 8 bytes, the compiler would want 16.
struct Decimal {
  uint64_t low;
  int64_t high;
  Decimal() = default;
  Decimal(Int128 value)  // NOLINT: implicit by design
      : low(static_cast<uint64_t>(value)), high(static_cast<int64_t>(value >> 64)) {}
  operator Int128() const {  // NOLINT: implicit by design
    return static_cast<Int128>((static_cast<unsigned __int128>(static_cast<uint64_t>(high)) << 64) |
                               low);
  }
};

// The largest coefficient of decimal128(38, s).
inline Int128 max_decimal() {
  Int128 value = 1;
  for (int i = 0; i < 38; ++i) value *= 10;
  return value - 1;
}

template <typename T>
void append_raw(const T& value, std::string* out) {
  out->append(reinterpret_cast<const char*>(&value), sizeof(T));
}

template <typename T>
Status take_raw(std::string_view* in, T* value) {
  if (in->size() < sizeof(T))
    return Status::corruption("window state: an accumulator is cut short");
  std::memcpy(value, in->data(), sizeof(T));
  in->remove_prefix(sizeof(T));
  return Status::ok();
}

Status overflow_error(const BoundAggregate& aggregate, const DataType& type);

// Calls `visit(group, row)` for every row. With `prefetch_base` set, the accumulator of a later row
// is fetched ahead.
template <typename Acc, typename Visit>
inline void visit_rows(const GroupedRows& rows, const Acc* base, size_t groups, Visit visit) {
  const bool far = groups * sizeof(Acc) > kPrefetchBytes;
  int64_t i = 0;
  if (far) {
    for (; i + kPrefetchDistance < rows.count; ++i) {
      __builtin_prefetch(base + rows.groups[i + kPrefetchDistance], 1);
      visit(rows.groups[i], rows.rows == nullptr ? i : rows.rows[i]);
    }
  }
  if (rows.rows == nullptr) {
    for (; i < rows.count; ++i) visit(rows.groups[i], i);
  } else {
    for (; i < rows.count; ++i) visit(rows.groups[i], rows.rows[i]);
  }
}

// What one value does to an accumulator; true: overflow.
template <typename AccT>
struct SumOp {
  using Acc = AccT;
  static Acc initial() { return Acc{0}; }
  template <typename In>
  static bool apply(Acc& acc, In value) {
    if constexpr (std::is_floating_point_v<Acc>) {
      acc += static_cast<Acc>(value);
      return false;
    } else if constexpr (std::is_same_v<Acc, Decimal>) {
      Int128 sum = 0;
      const bool overflow =
          __builtin_add_overflow(static_cast<Int128>(acc), static_cast<Int128>(value), &sum);
      acc = sum;
      return overflow;
    } else {
      return __builtin_add_overflow(acc, static_cast<Acc>(value), &acc);
    }
  }
};

template <typename T>
T comparable(T value) {
  return value;
}
inline Int128 comparable(Decimal value) { return value; }

// NaN is greater than everything.
template <typename T>
bool less(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return a < b || (std::isnan(b) && !std::isnan(a));
  } else {
    return comparable(a) < comparable(b);
  }
}

template <typename T, bool kMin>
struct ExtremeOp {
  using Acc = T;
  static Acc initial() {
    using Limits = std::numeric_limits<T>;
    if constexpr (std::is_same_v<T, Decimal>) {
      return kMin ? Decimal(max_decimal()) : Decimal(-max_decimal());
    } else if constexpr (std::is_floating_point_v<T>) {
      return kMin ? Limits::quiet_NaN() : -Limits::infinity();
    } else {
      return kMin ? Limits::max() : Limits::lowest();
    }
  }
  static bool apply(Acc& acc, T value) {
    acc = kMin ? (less(value, acc) ? value : acc) : (less(acc, value) ? value : acc);
    return false;
  }
};

// sum, min and max of fixed-width types and of bool (In is bool then, and the accumulator a byte).
//
// `seen_` says which groups saw a value. It stays empty until the first null arrives: a group
// exists because of a row, so until then each has seen one.
template <typename In, typename Op>
class FixedAccumulators final : public Accumulators {
 public:
  using Acc = typename Op::Acc;
  explicit FixedAccumulators(BoundAggregatePtr aggregate) : aggregate_(std::move(aggregate)) {}

  void prepare(const Column* input) override {
    if (may_have_nulls(*input) && input->count_nulls() != 0) track_seen();
  }
  void resize(size_t groups) override {
    acc_.resize(groups, Op::initial());
    if (!seen_.empty()) seen_.resize(groups, 0);
  }
  Status update(const Column* input, const GroupedRows& rows) override {
    return apply<In>(*input, rows);
  }
  Status merge(const Column* partials, const GroupedRows& rows) override {
    using Partial = std::conditional_t<std::is_same_v<In, bool>, bool, Acc>;
    return apply<Partial>(partials[0], rows);
  }
  [[nodiscard]] Result<Column> finish(size_t from, size_t count) const override {
    if constexpr (std::is_same_v<Acc, Decimal>) {
      for (size_t i = from; i < from + count; ++i) {
        const Int128 value = acc_[i];
        if (is_seen(i) && (value > max_decimal() || value < -max_decimal())) {
          return overflow_error(*aggregate_, *aggregate_->result_type);
        }
      }
    }
    return column(from, count);
  }
  Status partials(size_t from, size_t count, std::vector<Column>* out) const override {
    out->push_back(column(from, count));
    return Status::ok();
  }
  void serialise(size_t group, std::string* out) const override {
    out->push_back(is_seen(group) ? '\1' : '\0');
    append_raw(acc_[group], out);
  }
  Status deserialise(size_t group, std::string_view* in) override {
    uint8_t seen = 0;
    PENSTOCK_RETURN_NOT_OK(take_raw(in, &seen));
    track_seen();
    seen_[group] = seen;
    return take_raw(in, &acc_[group]);
  }
  Status merge_serialised(size_t group, std::string_view* in) override {
    uint8_t seen = 0;
    Acc value{};
    PENSTOCK_RETURN_NOT_OK(take_raw(in, &seen));
    PENSTOCK_RETURN_NOT_OK(take_raw(in, &value));
    track_seen();
    if (seen == 0) return Status::ok();
    if (seen_[group] == 0) {
      seen_[group] = 1;
      acc_[group] = value;
      return Status::ok();
    }
    return Op::apply(acc_[group], value) ? check_overflow() : Status::ok();
  }
  [[nodiscard]] std::unique_ptr<Accumulators> copy(size_t from, size_t count) const override {
    auto result = std::make_unique<FixedAccumulators>(aggregate_);
    result->acc_.assign(acc_.data() + from, acc_.data() + from + count);
    if (!seen_.empty()) result->seen_.assign(seen_.data() + from, seen_.data() + from + count);
    result->settled_ = count;
    return result;
  }
  void clear() override {
    acc_.clear();
    seen_.clear();
    settled_ = 0;
  }
  [[nodiscard]] size_t bytes() const override {
    return acc_.capacity() * sizeof(Acc) + seen_.capacity();
  }

 private:
  [[nodiscard]] bool is_seen(size_t group) const { return seen_.empty() || seen_[group] != 0; }

  void track_seen() {
    if (!seen_.empty()) return;
    seen_.assign(acc_.size(), 0);
    std::fill_n(seen_.begin(), settled_, uint8_t{1});
  }

  template <typename Value>
  Status apply(const Column& input, const GroupedRows& rows) {
    prepare(&input);
    bool overflow = false;
    Acc* const acc = acc_.data();
    const auto value = [&input, data = input.data<Value>()](int64_t row) {
      if constexpr (std::is_same_v<Value, bool>) {
        return static_cast<uint8_t>(input.bool_at(row));
      } else {
        return data[row];
      }
    };
    if (seen_.empty()) {
      visit_rows(rows, acc, acc_.size(), [&](uint32_t group, int64_t row) {
        overflow |= Op::apply(acc[group], value(row));
      });
    } else {
      visit_rows(rows, acc, acc_.size(), [&](uint32_t group, int64_t row) {
        if (!input.is_valid(row)) return;
        seen_[group] = 1;
        overflow |= Op::apply(acc[group], value(row));
      });
    }
    settled_ = acc_.size();
    return overflow ? check_overflow() : Status::ok();
  }

  // A value did not fit: may that be?
  [[nodiscard]] Status check_overflow() const {
    if (!std::is_same_v<Acc, Decimal> && aggregate_->overflow == OverflowMode::kWrap) {
      return Status::ok();
    }
    return overflow_error(*aggregate_, *aggregate_->result_type);
  }

  [[nodiscard]] Column column(size_t from, size_t count) const {
    Column result;
    if constexpr (std::is_same_v<In, bool>) {
      result.type = aggregate_->result_type;
      result.length = static_cast<int64_t>(count);
      result.null_count = 0;
      result.values = pack_bits(acc_.data() + from, count);
    } else {
      result = copy_column(aggregate_->result_type, acc_.data() + from, count);
    }
    if (!seen_.empty()) set_validity(seen_.data() + from, count, &result);
    return result;
  }

  BoundAggregatePtr aggregate_;
  HugeVector<Acc> acc_;
  std::vector<uint8_t> seen_;
  size_t settled_ = 0;  // groups that existed at the end of the last update
};

// count(*) and count(column).
class CountAccumulators final : public Accumulators {
 public:
  void resize(size_t groups) override { counts_.resize(groups, 0); }
  Status update(const Column* input, const GroupedRows& rows) override;
  Status merge(const Column* partials, const GroupedRows& rows) override;
  [[nodiscard]] Result<Column> finish(size_t from, size_t count) const override;
  Status partials(size_t from, size_t count, std::vector<Column>* out) const override;
  void serialise(size_t group, std::string* out) const override { append_raw(counts_[group], out); }
  Status deserialise(size_t group, std::string_view* in) override {
    return take_raw(in, &counts_[group]);
  }
  Status merge_serialised(size_t group, std::string_view* in) override {
    int64_t count = 0;
    PENSTOCK_RETURN_NOT_OK(take_raw(in, &count));
    counts_[group] += count;
    return Status::ok();
  }
  [[nodiscard]] std::unique_ptr<Accumulators> copy(size_t from, size_t count) const override {
    auto result = std::make_unique<CountAccumulators>();
    result->counts_.assign(counts_.data() + from, counts_.data() + from + count);
    return result;
  }
  void clear() override { counts_.clear(); }
  [[nodiscard]] size_t bytes() const override { return counts_.capacity() * sizeof(int64_t); }

 private:
  HugeVector<int64_t> counts_;
};

// min and max of utf8 and binary. Compares bytes, which for UTF-8 is the order of code points.
class BinaryAccumulators final : public Accumulators {
 public:
  explicit BinaryAccumulators(BoundAggregatePtr aggregate)
      : aggregate_(std::move(aggregate)), min_(aggregate_->kind == AggregateKind::kMin) {}
  void resize(size_t groups) override;
  Status update(const Column* input, const GroupedRows& rows) override;
  Status merge(const Column* partials, const GroupedRows& rows) override {
    return update(partials, rows);
  }
  [[nodiscard]] Result<Column> finish(size_t from, size_t count) const override;
  Status partials(size_t from, size_t count, std::vector<Column>* out) const override;
  void serialise(size_t group, std::string* out) const override;
  Status deserialise(size_t group, std::string_view* in) override;
  Status merge_serialised(size_t group, std::string_view* in) override;
  [[nodiscard]] std::unique_ptr<Accumulators> copy(size_t from, size_t count) const override;
  void clear() override;
  [[nodiscard]] size_t bytes() const override {
    return acc_.capacity() * sizeof(std::string) + seen_.capacity() + long_bytes_;
  }

 private:
  void take_value(size_t group, std::string_view value);

  BoundAggregatePtr aggregate_;
  bool min_;
  std::vector<std::string> acc_;
  std::vector<uint8_t> seen_;
  size_t long_bytes_ = 0;  // an upper bound of what the strings hold outside themselves
};

// avg: exact sums of integers and decimals (Sum is Decimal), double sums of floats; the quotient is
// a double.
template <typename In, typename Sum>
class AvgAccumulators final : public Accumulators {
 public:
  explicit AvgAccumulators(BoundAggregatePtr aggregate) : aggregate_(std::move(aggregate)) {}

  void resize(size_t groups) override { acc_.resize(groups, Entry{SumOp<Sum>::initial(), 0}); }
  Status update(const Column* input, const GroupedRows& rows) override {
    const In* const values = input->data<In>();
    return apply(
        *input, rows, [values](int64_t row) { return values[row]; },
        [](int64_t) { return int64_t{1}; });
  }
  Status merge(const Column* partials, const GroupedRows& rows) override {
    const Sum* const sums = partials[0].data<Sum>();
    const int64_t* const counts = partials[1].data<int64_t>();
    return apply(
        partials[0], rows, [sums](int64_t row) { return sums[row]; },
        [counts](int64_t row) { return counts[row]; });
  }
  [[nodiscard]] Result<Column> finish(size_t from, size_t count) const override {
    double unit = 1;
    if (aggregate_->input_type->id == TypeId::kDecimal128)
      unit = std::pow(10.0, aggregate_->input_type->scale);
    std::vector<double> values(count);
    std::vector<uint8_t> valid(count);
    for (size_t i = 0; i < count; ++i) {
      const Entry& entry = acc_[from + i];
      valid[i] = entry.count != 0 ? 1 : 0;
      if (entry.count != 0)
        values[i] = to_double(entry.sum) / (static_cast<double>(entry.count) * unit);
    }
    Column column = copy_column(aggregate_->result_type, values.data(), count);
    set_validity(valid.data(), count, &column);
    return column;
  }
  Status partials(size_t from, size_t count, std::vector<Column>* out) const override {
    std::vector<Sum> sums(count);
    std::vector<int64_t> counts(count);
    for (size_t i = 0; i < count; ++i) {
      sums[i] = acc_[from + i].sum;
      counts[i] = acc_[from + i].count;
    }
    out->push_back(copy_column(aggregate_->partial_types[0], sums.data(), count));
    out->push_back(copy_column(aggregate_->partial_types[1], counts.data(), count));
    return Status::ok();
  }
  void serialise(size_t group, std::string* out) const override {
    append_raw(acc_[group].sum, out);
    append_raw(acc_[group].count, out);
  }
  Status deserialise(size_t group, std::string_view* in) override {
    PENSTOCK_RETURN_NOT_OK(take_raw(in, &acc_[group].sum));
    return take_raw(in, &acc_[group].count);
  }
  Status merge_serialised(size_t group, std::string_view* in) override {
    Sum sum{};
    int64_t count = 0;
    PENSTOCK_RETURN_NOT_OK(take_raw(in, &sum));
    PENSTOCK_RETURN_NOT_OK(take_raw(in, &count));
    acc_[group].count += count;
    if (!SumOp<Sum>::apply(acc_[group].sum, sum)) return Status::ok();
    return overflow_error(*aggregate_, *aggregate_->partial_types[0]);
  }
  [[nodiscard]] std::unique_ptr<Accumulators> copy(size_t from, size_t count) const override {
    auto result = std::make_unique<AvgAccumulators>(aggregate_);
    result->acc_.assign(acc_.data() + from, acc_.data() + from + count);
    return result;
  }
  void clear() override { acc_.clear(); }
  [[nodiscard]] size_t bytes() const override { return acc_.capacity() * sizeof(Entry); }

 private:
  struct Entry {
    Sum sum;
    int64_t count;
  };

  static double to_double(double sum) { return sum; }
  static double to_double(Decimal sum) { return static_cast<double>(static_cast<Int128>(sum)); }

  template <typename Values, typename Counts>
  Status apply(const Column& validity, const GroupedRows& rows, Values values, Counts counts) {
    bool overflow = false;
    Entry* const acc = acc_.data();
    const bool nulls = may_have_nulls(validity);
    visit_rows(rows, acc, acc_.size(), [&](uint32_t group, int64_t row) {
      if (nulls && !validity.is_valid(row)) return;
      overflow |= SumOp<Sum>::apply(acc[group].sum, values(row));
      acc[group].count += counts(row);
    });
    if (overflow) [[unlikely]]
      return overflow_error(*aggregate_, *aggregate_->partial_types[0]);
    return Status::ok();
  }

  BoundAggregatePtr aggregate_;
  HugeVector<Entry> acc_;
};

}  // namespace penstock::window
