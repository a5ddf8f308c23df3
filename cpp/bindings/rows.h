// Columns -> rows of Python objects, and back.
//
// Everything here REQUIRES the GIL.
#pragma once

#include <pybind11/pybind11.h>

#include "columnar/batch.h"

namespace penstock::bindings {

// One penstock.common.Row per row, with the schema's field names; bare values when the schema's
// only field is marked with metadata penstock.scalar = 1. REQUIRES: batch.is_columnar().
Result<ObjectColumn> rows_from_columns(const Batch& batch);

// The batch in row form: itself when it is, else with rows_from_columns(); timestamps and keys
// stay.
Result<Batch> as_rows(const Batch& batch);

// The batch of rows (Rows, tuples, lists, dicts or bare values) as columns of `schema`, a
// pyarrow.Schema; timestamps and keys stay. kTypeError naming row, column and value when one does
// not fit. REQUIRES: !batch.is_columnar().
Result<Batch> columns_from_rows(const Batch& batch, pybind11::handle schema);

// A schema of bare values (see rows_from_columns).
bool is_scalar_schema(const Schema& schema);

// The subclass of Row for the schema's names.
Result<pybind11::object> row_type_of(const Schema& schema);

// New list of the objects.
pybind11::list list_from_objects(const ObjectColumn& objects);
// Holds a reference to each item of a list, tuple or other iterable.
Result<ObjectColumn> objects_from_iterable(pybind11::handle items);

}  // namespace penstock::bindings
