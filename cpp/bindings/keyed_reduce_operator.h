// KeyedReduceOperator: the rolling reduce of a keyed stream. Per record: the key's reduced value and
// the record become the new reduced value, which is kept and emitted with the record's timestamp.
//
// The first value of a key is its first record. State: "reduced", one value per key.
#pragma once

#include <memory>
#include <string>

#include "bindings/lifecycle.h"
#include "bindings/state/keyed_state_host.h"
#include "bindings/value_codec.h"

namespace penstock::bindings {

class KeyedReduceOperator final : public PythonOperator {
 public:
  KeyedReduceOperator(PyRef function, Lifecycles lifecycles)
      : PythonOperator(std::move(lifecycles)), function_(std::move(function)) {}

  Status open(const OperatorContext& context) override;
  Status process_batch(Batch batch, Output& output) override;
  Status process_watermark(Watermark watermark, Output& output) override;
  Status snapshot(OperatorState* state) override {
    PENSTOCK_RETURN_NOT_OK(PythonOperator::snapshot(state));
    return state_.snapshot(state);
  }
  Status checkpoint_completed(CheckpointId id) override { return state_.checkpoint_completed(id); }
  Status close() override;

 private:
  Result<Batch> reduce(Batch batch);
  // A new reference to the key's new value.
  Result<PyRef> reduce_row(const EntryKey& key, PyObject* row);

  PyRef function_;
  KeyedStateHost state_;
  ValueTable* table_ = nullptr;
  std::unique_ptr<const ValueCodec> codec_;
  std::string scratch_;
};

}  // namespace penstock::bindings
