// From key columns to group ids and back, whatever the types of the keys.
//
// Four forms: no key columns (one group for all rows), one integer-like column (Int64KeyIndex on
// the widened values), one column of text or bytes (BytesKeyIndex on the values where they lie) and
// everything else (BytesKeyIndex on canonical key bytes). `BatchKeys` is made once per batch,
// `GroupIndex` once per slice.
//
// Thread safety: none; belongs to the subtask's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "columnar/batch.h"
#include "operators/window/key_index.h"

namespace penstock::window {

enum class KeyForm : uint8_t { kNone, kInt64, kText, kEncoded };

KeyForm key_form(const std::vector<DataTypePtr>& types);

// The keys of one batch, made ready for lookups.
class BatchKeys {
 public:
  explicit BatchKeys(const std::vector<DataTypePtr>& types) : form_(key_form(types)) {}
  // `columns` must remain live until the next call.
  Status prepare(const std::vector<Column>& columns, int64_t num_rows);

 private:
  friend class GroupIndex;
  Status widen(const Column& column, int64_t num_rows);
  void hash_texts(const Column& column, int64_t num_rows);
  void flag_nulls(const Column& column, int64_t num_rows);
  // The values and null flags at `rows`, in gathered_ and gathered_nulls_.
  void gather(const int32_t* rows, int64_t count);

  KeyForm form_;
  const int64_t* values_ = nullptr;
  const uint8_t* nulls_ = nullptr;  // one byte per row; nullptr: no nulls
  std::vector<int64_t> widened_;
  std::vector<uint8_t> null_flags_;
  std::vector<int64_t> gathered_;
  std::vector<uint8_t> gathered_nulls_;
  Column texts_;  // of the batch
  std::vector<uint32_t> text_hashes_;
  EncodedKeys encoded_;
};

// The keys of some groups, copied out of an index; made into canonical bytes later.
class KeyCopy {
 public:
  [[nodiscard]] size_t size() const { return count_; }
  // The canonical bytes of the keys at `rows`, and their hashes. Without key columns bytes are empty
  // and hashes 0.
  [[nodiscard]] Result<EncodedKeys> encode(const std::vector<int32_t>& rows) const;
  // Of all.
  [[nodiscard]] Result<std::vector<uint32_t>> hash() const;

 private:
  friend class GroupIndex;
  size_t count_ = 0;
  std::vector<Column> columns_;
  EncodedKeys encoded_;  // form kEncoded
};

// The keys of one slice; each has a dense group id.
class GroupIndex {
 public:
  explicit GroupIndex(std::vector<DataTypePtr> types)
      : types_(std::move(types)), form_(key_form(types_)) {}

  // groups[i] = group of row rows[i] (of row i when `rows` is nullptr).
  void resolve(BatchKeys* keys, const int32_t* rows, int64_t count, uint32_t* groups);

  [[nodiscard]] size_t size() const;
  // The key columns of groups [from, from + count), in their original types, appended to `out`.
  Status key_columns(size_t from, size_t count, std::vector<Column>* out) const;
  Result<KeyCopy> copy_keys(size_t from, size_t count) const;
  void clear();
  // So many keys more may make it grow, which doubles what it takes.
  [[nodiscard]] bool grows_with(size_t more) const {
    return form_ == KeyForm::kInt64 ? int64_.grows_with(more) : bytes_.grows_with(more);
  }
  [[nodiscard]] size_t bytes() const { return int64_.bytes() + bytes_.bytes(); }

 private:
  void resolve_int64(BatchKeys* keys, const int32_t* rows, int64_t count, uint32_t* groups);
  void resolve_text(const BatchKeys& keys, const int32_t* rows, int64_t count, uint32_t* groups);
  void resolve_encoded(const EncodedKeys& keys, const int32_t* rows, int64_t count,
                       uint32_t* groups);

  std::vector<DataTypePtr> types_;
  KeyForm form_;
  Int64KeyIndex int64_;
  BytesKeyIndex bytes_;
  size_t only_group_ = 0;  // form kNone: 1 once a row was seen
};

}  // namespace penstock::window
