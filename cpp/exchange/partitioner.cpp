#include "exchange/partitioner.h"

#include <bit>
#include <limits>
#include <string>
#include <utility>

#include "record/key_encoding.h"

namespace penstock {

namespace {

class ForwardPartitioner final : public Partitioner {
 public:
  ForwardPartitioner() : Partitioner(1) {}

 protected:
  Status split(Batch, std::vector<Batch>*) override {
    return Status::internal("forward: asked to split although it has one target");
  }
};

class GlobalPartitioner final : public Partitioner {
 public:
  using Partitioner::Partitioner;

 protected:
  Status split(Batch batch, std::vector<Batch>* out) override {
    out->front() = std::move(batch);
    return Status::ok();
  }
};

class BroadcastPartitioner final : public Partitioner {
 public:
  using Partitioner::Partitioner;

 protected:
  Status split(Batch batch, std::vector<Batch>* out) override {
    for (Batch& target : *out) target = batch;
    return Status::ok();
  }
};

class RebalancePartitioner final : public Partitioner {
 public:
  RebalancePartitioner(int32_t num_targets, int32_t first)
      : Partitioner(num_targets), next_(first % num_targets) {}

 protected:
  // The rows of a target are the arithmetic sequence with step num_targets that begins at the
  // distance of the target from next_.
  Status split(Batch batch, std::vector<Batch>* out) override {
    const int64_t step = num_targets();
    const int64_t first = next_;
    next_ = static_cast<int32_t>((next_ + batch.num_rows) % step);
    if (batch.num_rows == 1) {
      (*out)[static_cast<size_t>(first)] = std::move(batch);
      return Status::ok();
    }
    for (int64_t distance = 0; distance < step && distance < batch.num_rows; ++distance) {
      rows_.clear();
      for (int64_t row = distance; row < batch.num_rows; row += step) {
        rows_.push_back(static_cast<int32_t>(row));
      }
      PENSTOCK_ASSIGN_OR_RETURN((*out)[static_cast<size_t>((first + distance) % step)],
                                batch.take(rows_.data(), static_cast<int64_t>(rows_.size())));
    }
    return Status::ok();
  }

 private:
  int32_t next_;               // the target of the next record
  std::vector<int32_t> rows_;  // kept for its allocation
};

class HashPartitioner : public Partitioner {
 public:
  HashPartitioner(int32_t num_targets, int32_t max_parallelism, std::vector<int32_t> key_columns)
      : Partitioner(num_targets), max_parallelism_(max_parallelism), key_columns_(key_columns) {
    for (int32_t group = 0; group < max_parallelism; ++group) {
      const int32_t subtask = subtask_of_key_group(group, max_parallelism, num_targets);
      target_of_group_.push_back(static_cast<uint16_t>(subtask));
    }
  }

 protected:
  void set_key_columns(std::vector<int32_t> columns) { key_columns_ = std::move(columns); }

  Status split(Batch batch, std::vector<Batch>* out) override {
    const auto num_rows = static_cast<size_t>(batch.num_rows);
    const uint32_t* hashes = nullptr;
    if (!key_columns_.empty()) {
      PENSTOCK_RETURN_NOT_OK(hash_columns(batch));
      hashes = hashes_.data();
    } else if (batch.keys != nullptr && batch.keys->hashes.size() == num_rows) {
      hashes = batch.keys->hashes.data();
    } else {
      return Status::internal("hash: the batch carries no keys and no key columns were given");
    }
    targets_.resize(num_rows);
    find_targets(hashes, num_rows);
    return split_by_target(std::move(batch), targets_.data(), out);
  }

 private:
  Status hash_columns(const Batch& batch) {
    if (!batch.is_columnar()) {
      return Status::internal("hash: key columns were given but the batch is in row form");
    }
    columns_.clear();
    for (const int32_t index : key_columns_) {
      if (index < 0 || static_cast<size_t>(index) >= batch.columns.size()) {
        return Status::internal("hash: key column " + std::to_string(index) + " of a batch with " +
                                std::to_string(batch.columns.size()) + " columns");
      }
      columns_.push_back(batch.columns[static_cast<size_t>(index)]);
    }
    hashes_.resize(static_cast<size_t>(batch.num_rows));
    const Status status = hash_keys(columns_, batch.num_rows, hashes_.data());
    columns_.clear();  // the buffers belong to the batch, not to us
    return status;
  }

  void find_targets(const uint32_t* hashes, size_t count) {
    const uint16_t* table = target_of_group_.data();
    const auto groups = static_cast<uint32_t>(max_parallelism_);
    if (std::has_single_bit(groups)) {  // the same result as % without the division
      for (size_t i = 0; i < count; ++i) targets_[i] = table[hashes[i] & (groups - 1)];
    } else {
      for (size_t i = 0; i < count; ++i) targets_[i] = table[hashes[i] % groups];
    }
  }

  const int32_t max_parallelism_;
  std::vector<int32_t> key_columns_;
  std::vector<uint16_t> target_of_group_;
  // Kept for their allocations.
  std::vector<Column> columns_;
  std::vector<uint32_t> hashes_;
  std::vector<uint16_t> targets_;
};

std::string column_names(const Schema& schema) {
  std::string names;
  for (const FieldPtr& field : schema.fields()) names += (names.empty() ? "" : ", ") + field->name;
  return names;
}

class NamedHashPartitioner final : public HashPartitioner {
 public:
  NamedHashPartitioner(int32_t num_targets, int32_t max_parallelism, std::vector<std::string> names)
      : HashPartitioner(num_targets, max_parallelism, {}), names_(std::move(names)) {}

 protected:
  Status split(Batch batch, std::vector<Batch>* out) override {
    if (!batch.is_columnar()) {
      return Status::internal("hash: key columns were given but the batch is in row form");
    }
    if (batch.schema != resolved_) PENSTOCK_RETURN_NOT_OK(resolve(batch.schema));
    return HashPartitioner::split(std::move(batch), out);
  }

 private:
  Status resolve(const SchemaPtr& schema) {
    std::vector<int32_t> indices;
    for (const std::string& name : names_) {
      const int index = schema->index_of(name);
      if (index < 0) {
        return Status::key_error("unknown key column '" + name +
                                 "'; the columns are: " + column_names(*schema));
      }
      indices.push_back(index);
    }
    set_key_columns(std::move(indices));
    resolved_ = schema;
    return Status::ok();
  }

  const std::vector<std::string> names_;
  SchemaPtr resolved_;  // the schema that the indices were looked up in
};

}  // namespace

Status Partitioner::partition(Batch batch, std::vector<Batch>* per_target) {
  if (batch.num_rows > std::numeric_limits<int32_t>::max()) {
    return Status::not_supported("a batch of more than 2^31 - 1 rows");
  }
  per_target->assign(static_cast<size_t>(num_targets_), Batch{});
  if (batch.num_rows == 0) return Status::ok();
  if (num_targets_ == 1) {
    per_target->front() = std::move(batch);
    return Status::ok();
  }
  return split(std::move(batch), per_target);
}

// A counting sort of the row numbers by target: the rows of a target end up side by side, in order.
Status split_by_target(Batch batch, const uint16_t* targets, std::vector<Batch>* out) {
  const int64_t num_rows = batch.num_rows;
  if (num_rows == 0) return Status::ok();
  std::vector<int32_t> ends(out->size(), 0);
  for (int64_t i = 0; i < num_rows; ++i) ++ends[targets[i]];
  if (ends[targets[0]] == num_rows) {
    (*out)[targets[0]] = std::move(batch);
    return Status::ok();
  }
  std::vector<int32_t> places(ends.size());
  int32_t sum = 0;
  for (size_t t = 0; t < ends.size(); ++t) {
    places[t] = sum;
    sum += ends[t];
    ends[t] = sum;
  }
  std::vector<int32_t> rows(static_cast<size_t>(num_rows));
  for (int32_t i = 0; i < num_rows; ++i) {
    rows[static_cast<size_t>(places[targets[i]]++)] = i;
  }
  int32_t begin = 0;
  for (size_t t = 0; t < ends.size(); ++t) {
    if (ends[t] != begin) {
      PENSTOCK_ASSIGN_OR_RETURN((*out)[t], batch.take(rows.data() + begin, ends[t] - begin));
    }
    begin = ends[t];
  }
  return Status::ok();
}

std::unique_ptr<Partitioner> make_forward() { return std::make_unique<ForwardPartitioner>(); }

std::unique_ptr<Partitioner> make_rebalance(int32_t num_targets, int32_t first) {
  return std::make_unique<RebalancePartitioner>(num_targets, first);
}

std::unique_ptr<Partitioner> make_hash(int32_t num_targets, int32_t max_parallelism,
                                       std::vector<int32_t> key_columns) {
  return std::make_unique<HashPartitioner>(num_targets, max_parallelism, std::move(key_columns));
}

std::unique_ptr<Partitioner> make_hash_by_name(int32_t num_targets, int32_t max_parallelism,
                                               std::vector<std::string> key_columns) {
  if (key_columns.empty()) return make_hash(num_targets, max_parallelism, {});
  return std::make_unique<NamedHashPartitioner>(num_targets, max_parallelism,
                                                std::move(key_columns));
}

std::unique_ptr<Partitioner> make_broadcast(int32_t num_targets) {
  return std::make_unique<BroadcastPartitioner>(num_targets);
}

std::unique_ptr<Partitioner> make_global(int32_t num_targets) {
  return std::make_unique<GlobalPartitioner>(num_targets);
}

}  // namespace penstock
