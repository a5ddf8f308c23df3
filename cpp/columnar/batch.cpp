#include "columnar/batch.h"

#include <utility>

namespace penstock {

namespace {

std::shared_ptr<const EncodedKeys> slice_keys(const EncodedKeys& keys, int64_t from,
                                              int64_t count) {
  auto out = std::make_shared<EncodedKeys>();
  out->bytes = keys.bytes.slice(from, count);
  out->hashes.assign(keys.hashes.begin() + from, keys.hashes.begin() + from + count);
  return out;
}

Result<std::shared_ptr<const EncodedKeys>> take_keys(const EncodedKeys& keys,
                                                     const int32_t* indices, int64_t count) {
  auto out = std::make_shared<EncodedKeys>();
  PENSTOCK_ASSIGN_OR_RETURN(out->bytes, take(keys.bytes, indices, count));
  out->hashes.resize(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    out->hashes[static_cast<size_t>(i)] = keys.hashes[static_cast<size_t>(indices[i])];
  }
  return std::shared_ptr<const EncodedKeys>(std::move(out));
}

}  // namespace

Batch Batch::slice(int64_t from, int64_t count) const {
  Batch out;
  out.num_rows = count;
  out.schema = schema;
  out.columns.reserve(columns.size());
  for (const Column& column : columns) out.columns.push_back(column.slice(from, count));
  if (rows) out.rows = rows.slice(from, count);
  if (has_timestamps()) out.timestamps = timestamps.slice(from, count);
  if (keys) out.keys = slice_keys(*keys, from, count);
  return out;
}

Result<Batch> Batch::take(const int32_t* indices, int64_t count) const {
  Batch out;
  out.num_rows = count;
  out.schema = schema;
  out.columns.reserve(columns.size());
  for (const Column& column : columns) {
    PENSTOCK_ASSIGN_OR_RETURN(Column taken, penstock::take(column, indices, count));
    out.columns.push_back(std::move(taken));
  }
  if (rows) out.rows = rows.take(indices, count);
  if (has_timestamps()) {
    PENSTOCK_ASSIGN_OR_RETURN(out.timestamps, penstock::take(timestamps, indices, count));
  }
  if (keys) {
    PENSTOCK_ASSIGN_OR_RETURN(out.keys, take_keys(*keys, indices, count));
  }
  return out;
}

Batch make_batch(SchemaPtr schema, std::vector<Column> columns, int64_t num_rows) {
  Batch batch;
  batch.num_rows = num_rows;
  batch.schema = std::move(schema);
  batch.columns = std::move(columns);
  return batch;
}

Batch make_rows(ObjectColumn rows) {
  Batch batch;
  batch.num_rows = rows.length;
  batch.rows = std::move(rows);
  return batch;
}

Column int64_column(std::vector<int64_t> values) {
  auto owner = std::make_shared<const std::vector<int64_t>>(std::move(values));
  Column column;
  column.type = int64();
  column.length = static_cast<int64_t>(owner->size());
  column.null_count = 0;
  // An empty vector may have no storage; the buffer is never null all the same.
  const void* data = owner->empty() ? static_cast<const void*>(owner.get()) : owner->data();
  column.values = Buffer{owner, static_cast<const uint8_t*>(data)};
  return column;
}

}  // namespace penstock
