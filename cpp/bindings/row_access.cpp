#include "bindings/row_access.h"

#include "bindings/errors.h"

namespace py = pybind11;

namespace penstock::bindings {

namespace {

// Both live as long as the process. Guarded by the GIL.
PyObject* fields_name = nullptr;     // "_fields"
PyObject* python_getitem = nullptr;  // the method that was replaced

// The position of `name` among the fields; -1: not there, or no names.
Py_ssize_t position_of(PyObject* row, PyObject* name) {
  PyObject* const fields = _PyType_Lookup(Py_TYPE(row), fields_name);  // borrowed
  if (fields == nullptr || !PyTuple_CheckExact(fields)) return -1;
  const Py_ssize_t count = PyTuple_GET_SIZE(fields);
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (PyTuple_GET_ITEM(fields, i) == name) return i;  // names in source code are interned
  }
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* const field = PyTuple_GET_ITEM(fields, i);
    if (PyUnicode_CheckExact(field) && PyUnicode_Compare(field, name) == 0) return i;
  }
  return -1;
}

PyObject* row_getitem(PyObject* row, PyObject* key) {
  if (!PyUnicode_Check(key)) return PyTuple_Type.tp_as_mapping->mp_subscript(row, key);
  // A subclass of str (a StrEnum, say) may compare as it likes: that is for Python to decide.
  const Py_ssize_t position = PyUnicode_CheckExact(key) ? position_of(row, key) : -1;
  if (position >= 0 && position < PyTuple_GET_SIZE(row)) {
    return Py_NewRef(PyTuple_GET_ITEM(row, position));
  }
  return PyObject_CallFunctionObjArgs(python_getitem, row, key, nullptr);
}

PyMethodDef getitem_definition = {"__getitem__", &row_getitem, METH_O,
                                  "The field at a position or of a name."};

}  // namespace

void install_row_access(const py::type& row_class) {
  if (python_getitem != nullptr) return;
  auto* const type = reinterpret_cast<PyTypeObject*>(row_class.ptr());
  if (PyType_IsSubtype(type, &PyTuple_Type) == 0) {
    throw_status(Status::type_error("rows are tuples"));
  }
  const py::str name("_fields");
  const auto method =
      py::reinterpret_steal<py::object>(PyDescr_NewMethod(type, &getitem_definition));
  if (!method) throw py::error_already_set();
  const py::object replaced = row_class.attr("__getitem__");
  row_class.attr("__getitem__") = method;
  PyObject* interned = name.inc_ref().ptr();
  PyUnicode_InternInPlace(&interned);
  fields_name = interned;
  python_getitem = replaced.inc_ref().ptr();
}

}  // namespace penstock::bindings
