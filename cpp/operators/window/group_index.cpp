#include "operators/window/group_index.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "operators/window/column_build.h"
#include "record/key_encoding.h"

namespace penstock::window {

namespace {

// Types whose values are integers, one to one with their key bytes. Date64 is not among them: its
// key is the day.
bool is_int_like(const DataType& type) {
  switch (type.id) {
    case TypeId::kBool:
    case TypeId::kDate32:
    case TypeId::kTime32:
    case TypeId::kTime64:
    case TypeId::kTimestamp:
    case TypeId::kDuration:
      return true;
    default:
      return type.is_integer();
  }
}

template <typename T>
void widen_values(const Column& column, int64_t count, int64_t* out) {
  const T* const values = column.data<T>();
  for (int64_t i = 0; i < count; ++i) out[i] = static_cast<int64_t>(values[i]);
}

bool is_unsigned(const DataType& type) { return type.is_integer() && !type.is_signed_integer(); }

template <typename T>
Column narrow_values(DataTypePtr type, const int64_t* values, size_t count) {
  std::vector<T> narrow(count);
  for (size_t i = 0; i < count; ++i) narrow[i] = static_cast<T>(values[i]);
  return copy_column(std::move(type), narrow.data(), count);
}

Column narrow_column(const DataTypePtr& type, const int64_t* values, size_t count) {
  if (type->id == TypeId::kBool) {
    std::vector<uint8_t> flags(count);
    for (size_t i = 0; i < count; ++i) flags[i] = values[i] != 0 ? 1 : 0;
    Column column;
    column.type = type;
    column.length = static_cast<int64_t>(count);
    column.null_count = 0;
    column.values = pack_bits(flags.data(), count);
    return column;
  }
  switch (type->byte_width) {
    case 1:
      return narrow_values<int8_t>(type, values, count);
    case 2:
      return narrow_values<int16_t>(type, values, count);
    case 4:
      return narrow_values<int32_t>(type, values, count);
    default:
      return copy_column(type, values, count);
  }
}

// Makes the row of the null group null, if it is among the groups [from, from + count).
void set_null(uint32_t null_group, size_t from, size_t count, Column* column) {
  if (null_group == kNoGroup || null_group < from || null_group >= from + count) return;
  std::vector<uint8_t> valid(count, 1);
  valid[null_group - from] = 0;
  set_validity(valid.data(), count, column);
}

}  // namespace

KeyForm key_form(const std::vector<DataTypePtr>& types) {
  if (types.empty()) return KeyForm::kNone;
  if (types.size() > 1) return KeyForm::kEncoded;
  if (is_int_like(*types[0])) return KeyForm::kInt64;
  return types[0]->is_binary_like() ? KeyForm::kText : KeyForm::kEncoded;
}

Status BatchKeys::prepare(const std::vector<Column>& columns, int64_t num_rows) {
  switch (form_) {
    case KeyForm::kNone:
      return Status::ok();
    case KeyForm::kInt64:
      flag_nulls(columns[0], num_rows);
      return widen(columns[0], num_rows);
    case KeyForm::kText:
      flag_nulls(columns[0], num_rows);
      hash_texts(columns[0], num_rows);
      return Status::ok();
    case KeyForm::kEncoded: {
      PENSTOCK_ASSIGN_OR_RETURN(encoded_, encode_keys(columns, num_rows));
      return Status::ok();
    }
  }
  return Status::internal("unknown key form");
}

void BatchKeys::flag_nulls(const Column& column, int64_t num_rows) {
  nulls_ = nullptr;
  if (!may_have_nulls(column)) return;
  null_flags_.resize(static_cast<size_t>(num_rows));
  for (int64_t i = 0; i < num_rows; ++i)
    null_flags_[static_cast<size_t>(i)] = column.is_valid(i) ? 0 : 1;
  nulls_ = null_flags_.data();
}

void BatchKeys::hash_texts(const Column& column, int64_t num_rows) {
  texts_ = column;
  text_hashes_.resize(static_cast<size_t>(num_rows));
  for (int64_t i = 0; i < num_rows; ++i)
    text_hashes_[static_cast<size_t>(i)] = hash_text(column.bytes_at(i));
}

Status BatchKeys::widen(const Column& column, int64_t num_rows) {
  const DataType& type = *column.type;
  if (type.byte_width == 8) {
    values_ = column.data<int64_t>();
    return Status::ok();
  }
  widened_.resize(static_cast<size_t>(num_rows));
  values_ = widened_.data();
  int64_t* const out = widened_.data();
  if (type.id == TypeId::kBool) {
    for (int64_t i = 0; i < num_rows; ++i) out[i] = column.bool_at(i) ? 1 : 0;
  } else if (type.byte_width == 4) {
    is_unsigned(type) ? widen_values<uint32_t>(column, num_rows, out)
                      : widen_values<int32_t>(column, num_rows, out);
  } else if (type.byte_width == 2) {
    is_unsigned(type) ? widen_values<uint16_t>(column, num_rows, out)
                      : widen_values<int16_t>(column, num_rows, out);
  } else {
    is_unsigned(type) ? widen_values<uint8_t>(column, num_rows, out)
                      : widen_values<int8_t>(column, num_rows, out);
  }
  return Status::ok();
}

void BatchKeys::gather(const int32_t* rows, int64_t count) {
  const auto size = static_cast<size_t>(count);
  gathered_.resize(size);
  for (size_t i = 0; i < size; ++i) gathered_[i] = values_[rows[i]];
  if (nulls_ == nullptr) return;
  gathered_nulls_.resize(size);
  for (size_t i = 0; i < size; ++i) gathered_nulls_[i] = nulls_[rows[i]];
}

void GroupIndex::resolve(BatchKeys* keys, const int32_t* rows, int64_t count, uint32_t* groups) {
  switch (form_) {
    case KeyForm::kNone:
      std::fill_n(groups, count, 0U);
      if (count > 0) only_group_ = 1;
      return;
    case KeyForm::kInt64:
      return resolve_int64(keys, rows, count, groups);
    case KeyForm::kText:
      return resolve_text(*keys, rows, count, groups);
    case KeyForm::kEncoded:
      return resolve_encoded(keys->encoded_, rows, count, groups);
  }
}

void GroupIndex::resolve_int64(BatchKeys* keys, const int32_t* rows, int64_t count,
                               uint32_t* groups) {
  if (rows == nullptr) return int64_.resolve(keys->values_, keys->nulls_, count, groups);
  keys->gather(rows, count);
  int64_.resolve(keys->gathered_.data(),
                 keys->nulls_ == nullptr ? nullptr : keys->gathered_nulls_.data(), count, groups);
}

void GroupIndex::resolve_text(const BatchKeys& keys, const int32_t* rows, int64_t count,
                              uint32_t* groups) {
  const Column& texts = keys.texts_;
  const uint32_t* const hashes = keys.text_hashes_.data();
  if (keys.nulls_ != nullptr) {
    for (int64_t i = 0; i < count; ++i) {
      const int64_t row = rows == nullptr ? i : rows[i];
      if (keys.nulls_[row] != 0) {
        groups[i] = bytes_.null_id();
      } else {
        bytes_.resolve([&](int64_t) { return texts.bytes_at(row); },
                       [&](int64_t) { return hashes[row]; }, 1, groups + i);
      }
    }
  } else if (rows == nullptr) {
    bytes_.resolve([&](int64_t i) { return texts.bytes_at(i); },
                   [&](int64_t i) { return hashes[i]; }, count, groups);
  } else {
    bytes_.resolve([&](int64_t i) { return texts.bytes_at(rows[i]); },
                   [&](int64_t i) { return hashes[rows[i]]; }, count, groups);
  }
}

void GroupIndex::resolve_encoded(const EncodedKeys& keys, const int32_t* rows, int64_t count,
                                 uint32_t* groups) {
  const uint32_t* const hashes = keys.hashes.data();
  const auto row = [rows](int64_t i) { return rows == nullptr ? i : rows[i]; };
  bytes_.resolve([&](int64_t i) { return keys.bytes.bytes_at(row(i)); },
                 [&](int64_t i) { return hashes[row(i)]; }, count, groups);
}

size_t GroupIndex::size() const {
  switch (form_) {
    case KeyForm::kNone:
      return only_group_;
    case KeyForm::kInt64:
      return int64_.size();
    case KeyForm::kText:
    case KeyForm::kEncoded:
      return bytes_.size();
  }
  return 0;
}

Status GroupIndex::key_columns(size_t from, size_t count, std::vector<Column>* out) const {
  if (form_ == KeyForm::kNone) return Status::ok();
  if (form_ == KeyForm::kInt64) {
    Column column = narrow_column(types_[0], int64_.keys() + from, count);
    set_null(int64_.null_group(), from, count, &column);
    out->push_back(std::move(column));
    return Status::ok();
  }
  if (form_ == KeyForm::kText) {
    PENSTOCK_ASSIGN_OR_RETURN(Column column, binary_column(types_[0], count, [&](size_t i) {
                                return bytes_.key(from + i);
                              }));
    set_null(bytes_.null_group(), from, count, &column);
    out->push_back(std::move(column));
    return Status::ok();
  }
  std::vector<std::string_view> keys(count);
  for (size_t i = 0; i < count; ++i) keys[i] = bytes_.key(from + i);
  for (size_t i = 0; i < types_.size(); ++i) {
    const int path = types_.size() == 1 ? -1 : static_cast<int>(i);
    PENSTOCK_ASSIGN_OR_RETURN(Column column, decode_keys(keys, types_[i], path));
    out->push_back(std::move(column));
  }
  return Status::ok();
}

Result<KeyCopy> GroupIndex::copy_keys(size_t from, size_t count) const {
  KeyCopy copy;
  copy.count_ = count;
  if (form_ != KeyForm::kEncoded) {
    PENSTOCK_RETURN_NOT_OK(key_columns(from, count, &copy.columns_));
    return copy;
  }
  PENSTOCK_ASSIGN_OR_RETURN(copy.encoded_.bytes, binary_column(binary(), count, [&](size_t i) {
                              return bytes_.key(from + i);
                            }));
  copy.encoded_.hashes.resize(count);
  for (size_t i = 0; i < count; ++i) copy.encoded_.hashes[i] = bytes_.hash(from + i);
  return copy;
}

Result<EncodedKeys> KeyCopy::encode(const std::vector<int32_t>& rows) const {
  const auto count = static_cast<int64_t>(rows.size());
  EncodedKeys out;
  if (!columns_.empty()) {
    std::vector<Column> columns;
    for (const Column& column : columns_) {
      PENSTOCK_ASSIGN_OR_RETURN(Column taken, take(column, rows.data(), count));
      columns.push_back(std::move(taken));
    }
    return encode_keys(columns, count);
  }
  if (encoded_.bytes.type == nullptr) {
    const auto nothing = [](size_t) { return std::string_view(); };
    PENSTOCK_ASSIGN_OR_RETURN(out.bytes, binary_column(binary(), rows.size(), nothing));
    out.hashes.assign(rows.size(), 0);
    return out;
  }
  PENSTOCK_ASSIGN_OR_RETURN(out.bytes, take(encoded_.bytes, rows.data(), count));
  for (const int32_t row : rows) out.hashes.push_back(encoded_.hashes[static_cast<size_t>(row)]);
  return out;
}

Result<std::vector<uint32_t>> KeyCopy::hash() const {
  if (columns_.empty() && encoded_.bytes.type != nullptr) return encoded_.hashes;
  std::vector<uint32_t> hashes(count_, 0);
  if (!columns_.empty()) {
    PENSTOCK_RETURN_NOT_OK(hash_keys(columns_, static_cast<int64_t>(count_), hashes.data()));
  }
  return hashes;
}

void GroupIndex::clear() {
  only_group_ = 0;
  int64_.clear();
  bytes_.clear();
}

}  // namespace penstock::window
