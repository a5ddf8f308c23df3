// Key selectors: attach each row's canonically encoded key (columnar/batch.h, EncodedKeys).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "bindings/lifecycle.h"

namespace penstock::bindings {

// The key is what function(value) returns. Emits rows.
class FunctionKeySelector final : public PythonOperator {
 public:
  FunctionKeySelector(PyRef function, Lifecycles lifecycles)
      : PythonOperator(std::move(lifecycles)), function_(std::move(function)) {}
  Status process_batch(Batch batch, Output& output) override;

 private:
  Result<Batch> attach_keys(Batch batch);
  PyRef function_;
};

// The key is one column, or the tuple of several. The batch keeps its form; columns are encoded
// without the GIL, of rows (Rows or dicts) the fields of these names.
class ColumnKeySelector final : public Operator {
 public:
  // REQUIRES: at least one name.
  explicit ColumnKeySelector(std::vector<std::string> names) : names_(std::move(names)) {}
  Status process_batch(Batch batch, Output& output) override;

 private:
  Result<EncodedKeys> keys_of_columns(const Batch& batch) const;
  Result<EncodedKeys> keys_of_rows(const Batch& batch) const;
  std::vector<std::string> names_;
};

}  // namespace penstock::bindings
