#include "source/generator_source.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "columnar/bitmap.h"

namespace penstock {

namespace {

uint64_t mix(uint64_t x) {
  uint64_t z = x + 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

// One stream of a column, standing before row `first`.
class Randoms {
 public:
  Randoms(uint64_t column_start, int64_t first)
      : base_(column_start + static_cast<uint64_t>(first)) {}
  [[nodiscard]] uint64_t at(int64_t i) const { return mix(base_ + static_cast<uint64_t>(i)); }

 private:
  uint64_t base_;
};

// A range of rows of one column.
struct Rows {
  uint64_t seed;
  uint64_t column;
  int64_t first;
  int64_t count;

  [[nodiscard]] Randoms randoms(uint64_t stream) const {
    return {mix(seed ^ mix(8 * column + stream)), first};
  }
  [[nodiscard]] uint64_t number(int64_t i) const { return static_cast<uint64_t>(first + i); }
};

constexpr uint64_t kMaxFolded = uint64_t{1} << 32;

uint64_t fold(uint64_t random, uint64_t bound) { return ((random >> 32) * bound) >> 32; }

// Calls consume(i, number below `bound`) for each row; bound 0 stands for 2^64. The kind of bound
// is looked at once, so that each loop is tight.
template <typename Consume>
void for_each_below(const Rows& rows, uint64_t bound, Consume consume) {
  const Randoms randoms = rows.randoms(0);
  if (bound == 0) {
    for (int64_t i = 0; i < rows.count; ++i) consume(i, randoms.at(i));
  } else if (bound <= kMaxFolded) {
    for (int64_t i = 0; i < rows.count; ++i) consume(i, fold(randoms.at(i), bound));
  } else {
    for (int64_t i = 0; i < rows.count; ++i) consume(i, randoms.at(i) % bound);
  }
}

constexpr double kUnit = 0x1p-53;

double unit(uint64_t random) {
  return static_cast<double>(static_cast<int64_t>(random >> 11)) * kUnit;
}

// unit(r) < fraction is the same as (r >> 11) < threshold(fraction), exactly.
uint64_t threshold(double fraction) {
  return static_cast<uint64_t>(std::ceil(std::ldexp(fraction, 53)));
}

Column fixed_column(DataTypePtr type, const MutableBuffer& values, int64_t count) {
  Column column;
  column.type = std::move(type);
  column.length = count;
  column.null_count = 0;
  column.values = values.freeze();
  return column;
}

// A column of 8-byte values, filled by fill(T*).
template <typename T, typename Fill>
Column make_fixed(DataTypePtr type, int64_t count, Fill fill) {
  const MutableBuffer values = MutableBuffer::allocate(count * static_cast<int64_t>(sizeof(T)));
  fill(reinterpret_cast<T*>(values.data.get()));
  return fixed_column(std::move(type), values, count);
}

Column generate(const SequenceColumn& how, const Rows& rows) {
  return make_fixed<uint64_t>(int64(), rows.count, [&](uint64_t* out) {
    const auto start = static_cast<uint64_t>(how.start);
    const auto step = static_cast<uint64_t>(how.step);
    for (int64_t i = 0; i < rows.count; ++i) out[i] = start + rows.number(i) * step;
  });
}

Column generate(const IntColumn& how, const Rows& rows) {
  const auto min = static_cast<uint64_t>(how.min);
  const uint64_t bound = static_cast<uint64_t>(how.max) - min + 1;  // 0: all of 64 bits
  return make_fixed<uint64_t>(int64(), rows.count, [&](uint64_t* out) {
    for_each_below(rows, bound, [=](int64_t i, uint64_t value) { out[i] = min + value; });
  });
}

Column generate(const FloatColumn& how, const Rows& rows) {
  return make_fixed<double>(float64(), rows.count, [&](double* out) {
    const Randoms randoms = rows.randoms(0);
    const double span = how.max - how.min;
    for (int64_t i = 0; i < rows.count; ++i) out[i] = how.min + unit(randoms.at(i)) * span;
  });
}

Column generate(const BoolColumn& how, const Rows& rows) {
  const MutableBuffer bits = MutableBuffer::allocate(bitmap_bytes(rows.count));
  const Randoms randoms = rows.randoms(0);
  const uint64_t limit = threshold(how.probability);
  for (int64_t i = 0; i < rows.count; i += 8) {
    const int64_t in_byte = std::min<int64_t>(8, rows.count - i);
    unsigned byte = 0;
    for (int64_t k = 0; k < in_byte; ++k) {
      byte |= static_cast<unsigned>((randoms.at(i + k) >> 11) < limit) << k;
    }
    bits.data.get()[i >> 3] = static_cast<uint8_t>(byte);
  }
  return fixed_column(boolean(), bits, rows.count);
}

// Writes strings one behind the other into a buffer that has room for `max_size` bytes each.
class StringWriter {
 public:
  StringWriter(int64_t count, size_t max_size)
      : offsets_(MutableBuffer::allocate((count + 1) * static_cast<int64_t>(sizeof(int32_t)))),
        bytes_(MutableBuffer::allocate(count * static_cast<int64_t>(max_size) + kPadding)),
        count_(count),
        next_offset_(reinterpret_cast<int32_t*>(offsets_.data.get())),
        position_(bytes_.data.get()) {
    *next_offset_++ = 0;
  }
  // Bytes that may be written beyond the last string.
  static constexpr int64_t kPadding = 32;

  uint8_t* position() { return position_; }
  // The string that was written at position() has ended.
  void advance(size_t size) {
    position_ += size;
    *next_offset_++ = static_cast<int32_t>(position_ - bytes_.data.get());
  }
  [[nodiscard]] Column finish() const {
    Column column = fixed_column(utf8(), bytes_, count_);
    column.offsets = offsets_.freeze();
    return column;
  }

 private:
  MutableBuffer offsets_;
  MutableBuffer bytes_;
  int64_t count_;
  int32_t* next_offset_;
  uint8_t* position_;
};

size_t longest(const std::vector<std::string>& values) {
  size_t size = 0;
  for (const std::string& value : values) size = std::max(size, value.size());
  return size;
}

constexpr size_t kShort = 16;

// All values at a stride of kShort bytes: each is copied as one block, whatever its length.
Column choose_short(const std::vector<std::string>& values, const Rows& rows, size_t max_size) {
  std::vector<char> blocks(values.size() * kShort);
  std::vector<size_t> sizes;
  for (size_t i = 0; i < values.size(); ++i) {
    std::copy(values[i].begin(), values[i].end(),
              blocks.begin() + static_cast<ptrdiff_t>(i * kShort));
    sizes.push_back(values[i].size());
  }
  StringWriter writer(rows.count, max_size);
  for_each_below(rows, values.size(), [&](int64_t /*i*/, uint64_t choice) {
    std::memcpy(writer.position(), blocks.data() + choice * kShort, kShort);
    writer.advance(sizes[choice]);
  });
  return writer.finish();
}

Column choose(const std::vector<std::string>& values, const Rows& rows) {
  const size_t max_size = longest(values);
  if (max_size <= kShort) return choose_short(values, rows, max_size);
  StringWriter writer(rows.count, max_size);
  for_each_below(rows, values.size(), [&](int64_t /*i*/, uint64_t choice) {
    const std::string& value = values[choice];
    std::memcpy(writer.position(), value.data(), value.size());
    writer.advance(value.size());
  });
  return writer.finish();
}

template <typename T>
Column choose(const std::vector<T>& values, const Rows& rows) {
  const DataTypePtr type = std::is_same_v<T, double> ? float64() : int64();
  return make_fixed<T>(type, rows.count, [&](T* out) {
    for_each_below(rows, values.size(),
                   [&](int64_t i, uint64_t choice) { out[i] = values[choice]; });
  });
}

Column generate(const ChoiceColumn& how, const Rows& rows) {
  return std::visit([&](const auto& values) { return choose(values, rows); }, how.values);
}

constexpr size_t kMaxDigits = 20;

Column generate(const StringColumn& how, const Rows& rows) {
  StringWriter writer(rows.count, how.prefix.size() + kMaxDigits);
  for_each_below(rows, how.cardinality, [&](int64_t /*i*/, uint64_t number) {
    auto* begin = reinterpret_cast<char*>(writer.position());
    std::memcpy(begin, how.prefix.data(), how.prefix.size());
    char* digits = begin + how.prefix.size();
    const auto end = std::to_chars(digits, digits + kMaxDigits, number);
    writer.advance(static_cast<size_t>(end.ptr - begin));
  });
  return writer.finish();
}

// std::floor is a call into libm on the oldest x86-64.
int64_t floor_to_int(double value) {
  const auto truncated = static_cast<int64_t>(value);
  return truncated - (static_cast<double>(truncated) > value ? 1 : 0);
}

Column generate(const TimestampColumn& how, const Rows& rows) {
  return make_fixed<int64_t>(timestamp_ms(), rows.count, [&](int64_t* out) {
    for (int64_t i = 0; i < rows.count; ++i) {
      out[i] = how.start + floor_to_int(static_cast<double>(rows.first + i) * how.step);
    }
    if (how.disorder > 0) {
      for_each_below(rows, static_cast<uint64_t>(how.disorder) + 1,
                     [=](int64_t i, uint64_t delay) { out[i] -= static_cast<int64_t>(delay); });
    }
    if (how.late == 0 || how.late_fraction <= 0) return;
    const Randoms randoms = rows.randoms(1);
    const uint64_t limit = threshold(how.late_fraction);
    for (int64_t i = 0; i < rows.count; ++i) {
      out[i] -= (randoms.at(i) >> 11) < limit ? how.late : 0;
    }
  });
}

DataTypePtr type_of(const GeneratedValues& values) {
  struct {
    DataTypePtr operator()(const SequenceColumn&) const { return int64(); }
    DataTypePtr operator()(const IntColumn&) const { return int64(); }
    DataTypePtr operator()(const FloatColumn&) const { return float64(); }
    DataTypePtr operator()(const BoolColumn&) const { return boolean(); }
    DataTypePtr operator()(const ChoiceColumn& how) const {
      const DataTypePtr types[] = {utf8(), int64(), float64()};
      return types[how.values.index()];
    }
    DataTypePtr operator()(const StringColumn&) const { return utf8(); }
    DataTypePtr operator()(const TimestampColumn&) const { return timestamp_ms(); }
  } type;
  return std::visit(type, values);
}

bool is_fraction(double value) { return value >= 0 && value <= 1; }

// One chunk of strings must be expressible by int32 offsets.
bool fits_chunk(size_t size) {
  return size <= static_cast<size_t>(std::numeric_limits<int32_t>::max() / kChunkRows);
}

// What is wrong with the parameters; empty: nothing.
struct Checks {
  std::string operator()(const SequenceColumn&) const { return {}; }
  std::string operator()(const IntColumn& how) const {
    return how.min <= how.max ? "" : "min is greater than max";
  }
  std::string operator()(const FloatColumn& how) const {
    return how.min <= how.max ? "" : "min is greater than max";
  }
  std::string operator()(const BoolColumn& how) const {
    return is_fraction(how.probability) ? "" : "probability must be between 0 and 1";
  }
  std::string operator()(const ChoiceColumn& how) const {
    if (std::visit([](const auto& values) { return values.empty(); }, how.values)) {
      return "there are no values to choose from";
    }
    const auto* strings = std::get_if<std::vector<std::string>>(&how.values);
    return strings == nullptr || fits_chunk(longest(*strings)) ? "" : "a value is too long";
  }
  std::string operator()(const StringColumn& how) const {
    if (how.cardinality == 0) return "cardinality must be at least 1";
    return fits_chunk(how.prefix.size() + kMaxDigits) ? "" : "the prefix is too long";
  }
  std::string operator()(const TimestampColumn& how) const {
    if (how.disorder < 0 || how.late < 0) return "disorder and late must not be negative";
    if (!std::isfinite(how.step)) return "step must be finite";
    return is_fraction(how.late_fraction) ? "" : "late_fraction must be between 0 and 1";
  }
};

SchemaPtr schema_of(const std::vector<GeneratorColumn>& columns) {
  std::vector<FieldPtr> fields;
  for (const GeneratorColumn& column : columns) {
    Field field;
    field.name = column.name;
    field.type = type_of(column.values);
    field.nullable = false;
    fields.push_back(std::make_shared<const Field>(std::move(field)));
  }
  return std::make_shared<const Schema>(std::move(fields));
}

}  // namespace

Result<std::shared_ptr<GeneratorSource>> GeneratorSource::create(GeneratorOptions options) {
  if (options.columns.empty()) return Status::invalid("a generator needs at least one column");
  if (options.count && *options.count < 0) return Status::invalid("count must not be negative");
  if (options.batch_rows < 1) return Status::invalid("batch_rows must be at least 1");
  for (const GeneratorColumn& column : options.columns) {
    const std::string mistake = std::visit(Checks{}, column.values);
    if (!mistake.empty()) return Status::invalid("column '" + column.name + "': " + mistake);
  }
  return std::shared_ptr<GeneratorSource>(new GeneratorSource(std::move(options)));
}

GeneratorSource::GeneratorSource(GeneratorOptions options)
    : ChunkedSource(options.count, options.batch_rows, options.rows_per_second),
      columns_(std::move(options.columns)),
      seed_(options.seed),
      schema_(schema_of(columns_)) {}

Result<Batch> GeneratorSource::read(int64_t first, int64_t count) {
  std::vector<Column> columns;
  columns.reserve(columns_.size());
  for (size_t i = 0; i < columns_.size(); ++i) {
    const Rows rows{seed_, i, first, count};
    columns.push_back(
        std::visit([&](const auto& how) { return generate(how, rows); }, columns_[i].values));
  }
  return make_batch(schema_, std::move(columns), count);
}

}  // namespace penstock
