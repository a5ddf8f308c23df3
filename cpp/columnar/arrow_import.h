// Arrow C Data Interface in and out. Import takes over the structs and shares their buffers (zero
// copy); dictionary columns are decoded; export hands out structs that keep our buffers alive until
// released.
#pragma once

#include "columnar/arrow_abi.h"
#include "columnar/batch.h"

namespace penstock {

// A struct-typed schema ("+s") is a batch's schema. Does not take over `schema`.
Result<SchemaPtr> import_schema(const ArrowSchema& schema);
Result<DataTypePtr> import_type(const ArrowSchema& schema);

// Takes over `array` (its release is set to null) on success and on failure. `schema` is only read:
// pass the original ArrowSchema because dictionary types are visible there only.
Result<Batch> import_batch(ArrowArray* array, const ArrowSchema& schema);
Result<Column> import_column(ArrowArray* array, const ArrowSchema& schema);

// Fill `out`, which the caller releases.
Status export_schema(const Schema& schema, ArrowSchema* out);
Status export_batch(const Batch& batch,
                    ArrowArray* out);  // REQUIRES: columnar; timestamps are not exported
Status export_type(const DataType& type, const std::string& name, ArrowSchema* out);
Status export_column(const Column& column, ArrowArray* out);

}  // namespace penstock
