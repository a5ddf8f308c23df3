// Codecs of rows, tuples, lists and maps: a bitmap of what is None, then what is not, one behind the
// other.
#include <pybind11/stl.h>

#include <utility>
#include <vector>

#include "bindings/errors.h"
#include "bindings/value_codecs.h"

namespace py = pybind11;

namespace penstock::bindings {

namespace {

using CodecPtr = std::unique_ptr<const ValueCodec>;

size_t bitmap_bytes(size_t count) { return (count + 7) / 8; }

// `codec_of(i)` encodes item i of `items`, which belong to a tuple of the caller's: pickling runs user
// code, and that may change a list or a dict.
template <typename CodecOf>
Status encode_items(PyObject* const* items, size_t count, CodecOf codec_of, std::string* out) {
  const size_t bitmap = out->size();
  out->append(bitmap_bytes(count), '\0');
  for (size_t i = 0; i < count; ++i) {
    if (items[i] == Py_None) {
      (*out)[bitmap + i / 8] = static_cast<char>((*out)[bitmap + i / 8] | (1 << (i % 8)));
    } else {
      PENSTOCK_RETURN_NOT_OK(codec_of(i).encode(items[i], out));
    }
  }
  return Status::ok();
}

// Fills the `count` places of the list or tuple `into`; false with the Python error set.
template <typename CodecOf>
bool decode_items(ByteReader* in, size_t count, CodecOf codec_of, const std::string& type,
                  PyObject* into) {
  std::string_view nulls;
  if (!in->get_raw(bitmap_bytes(count), &nulls)) return damaged_value(type) != nullptr;
  for (size_t i = 0; i < count; ++i) {
    const bool is_null = ((static_cast<uint8_t>(nulls[i / 8]) >> (i % 8)) & 1) != 0;
    PyObject* const item = is_null ? Py_NewRef(Py_None) : codec_of(i).decode(in);
    if (item == nullptr) return false;
    if (PyList_Check(into)) {
      PyList_SET_ITEM(into, static_cast<Py_ssize_t>(i), item);
    } else {
      PyTuple_SET_ITEM(into, static_cast<Py_ssize_t>(i), item);
    }
  }
  return true;
}

class ProductCodec final : public ValueCodec {
 public:
  // `row_type`: the subclass of Row, or empty for tuples.
  ProductCodec(const ValueType& type, std::vector<CodecPtr> fields, PyRef row_type)
      : ValueCodec(type),
        names_(type.names),
        fields_(std::move(fields)),
        row_type_(std::move(row_type)) {}

  Status encode(PyObject* value, std::string* out) const override {
    const bool in_order =
        PyTuple_CheckExact(value) || reinterpret_cast<PyObject*>(Py_TYPE(value)) == row_type_.get();
    PyRef ordered;
    if (!in_order) {
      ordered = in_declared_order(value);
      if (!ordered) return misfit(value);
      value = ordered.get();
    }
    if (static_cast<size_t>(PySequence_Fast_GET_SIZE(value)) != fields_.size())
      return misfit(value, "it has another number of fields");
    return encode_items(
        PySequence_Fast_ITEMS(value), fields_.size(),
        [this](size_t i) -> const ValueCodec& { return *fields_[i]; }, out);
  }

  PyObject* decode(ByteReader* in) const override {
    const auto size = static_cast<Py_ssize_t>(fields_.size());
    // Rows are tuples of a type of their own: made as one, and nothing is copied.
    PyObject* made = nullptr;
    if (row_type_) {
      auto* const type = reinterpret_cast<PyTypeObject*>(row_type_.get());
      made = type->tp_alloc(type, size);
    } else {
      made = PyTuple_New(size);
    }
    PyRef result = PyRef::adopt(made);
    if (!result) return nullptr;
    const bool good = decode_items(
        in, fields_.size(), [this](size_t i) -> const ValueCodec& { return *fields_[i]; },
        type_text(), result.get());
    return good ? result.release() : nullptr;
  }

 private:
  // A tuple of the fields of a dict, or of a Row with other names; nullptr: it has none such.
  [[nodiscard]] PyRef in_declared_order(PyObject* value) const {
    const bool by_name = PyDict_Check(value) || is_row_read_by_name(value);
    if (!by_name) {
      const bool has_order = PyTuple_Check(value) || PyList_CheckExact(value);
      return has_order ? PyRef::adopt(PySequence_Tuple(value)) : PyRef();
    }
    PyRef tuple = PyRef::adopt(PyTuple_New(static_cast<Py_ssize_t>(names_.size())));
    for (size_t i = 0; tuple && i < names_.size(); ++i) {
      const PyRef name = PyRef::adopt(
          PyUnicode_FromStringAndSize(names_[i].data(), static_cast<Py_ssize_t>(names_[i].size())));
      PyObject* const field = name ? PyObject_GetItem(value, name.get()) : nullptr;
      if (field == nullptr) return {};
      PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), field);
    }
    const bool complete =
        tuple && (!PyDict_Check(value) || static_cast<size_t>(PyDict_Size(value)) == names_.size());
    return complete ? std::move(tuple) : PyRef();
  }

  [[nodiscard]] bool is_row_read_by_name(PyObject* value) const {
    if (!row_type_ || !PyTuple_Check(value) ||
        PyObject_HasAttrString(value, "_is_read_by_name") == 0)
      return false;
    try {
      return py::handle(value).attr("_is_read_by_name")(py::cast(names_)).cast<bool>();
    } catch (py::error_already_set&) {
      return false;
    }
  }

  std::vector<std::string> names_;
  std::vector<CodecPtr> fields_;
  PyRef row_type_;
};

class ListCodec final : public ValueCodec {
 public:
  ListCodec(const ValueType& type, CodecPtr element)
      : ValueCodec(type), element_(std::move(element)) {}
  Status encode(PyObject* value, std::string* out) const override {
    const bool is_text = PyUnicode_Check(value) || PyBytes_Check(value);
    if (is_text || PyDict_Check(value) || PySequence_Check(value) == 0) return misfit(value);
    const PyRef items = PyRef::adopt(PySequence_Tuple(value));
    if (!items) return misfit(value);
    const auto count = static_cast<size_t>(PyTuple_GET_SIZE(items.get()));
    key_bytes::append_varint(count, out);
    return encode_items(
        PySequence_Fast_ITEMS(items.get()), count,
        [this](size_t) -> const ValueCodec& { return *element_; }, out);
  }
  PyObject* decode(ByteReader* in) const override {
    uint64_t count = 0;
    // Each item takes a bit at least: a count beyond that is no reason to allocate.
    if (!read_varint(in, &count) || count / 8 > in->rest().size())
      return damaged_value(type_text());
    PyRef list = PyRef::adopt(PyList_New(static_cast<Py_ssize_t>(count)));
    if (!list) return nullptr;
    const bool good = decode_items(
        in, static_cast<size_t>(count), [this](size_t) -> const ValueCodec& { return *element_; },
        type_text(), list.get());
    return good ? list.release() : nullptr;
  }

 private:
  CodecPtr element_;
};

// Keys and values in turn, in the dict's order.
class MapCodec final : public ValueCodec {
 public:
  MapCodec(const ValueType& type, CodecPtr key, CodecPtr value)
      : ValueCodec(type), key_(std::move(key)), value_(std::move(value)) {}
  Status encode(PyObject* value, std::string* out) const override {
    if (!PyDict_Check(value)) return misfit(value);
    const PyRef items = PyRef::adopt(PyTuple_New(PyDict_Size(value) * 2));
    if (!items) return misfit(value);
    Py_ssize_t at = 0;
    Py_ssize_t count = 0;
    PyObject* key = nullptr;
    PyObject* item = nullptr;
    while (PyDict_Next(value, &at, &key, &item) != 0) {
      PyTuple_SET_ITEM(items.get(), count++, Py_NewRef(key));
      PyTuple_SET_ITEM(items.get(), count++, Py_NewRef(item));
    }
    key_bytes::append_varint(static_cast<size_t>(count) / 2, out);
    return encode_items(
        PySequence_Fast_ITEMS(items.get()), static_cast<size_t>(count),
        [this](size_t i) -> const ValueCodec& { return i % 2 == 0 ? *key_ : *value_; }, out);
  }
  PyObject* decode(ByteReader* in) const override {
    uint64_t count = 0;
    if (!read_varint(in, &count) || count / 4 > in->rest().size())
      return damaged_value(type_text());
    const PyRef items = PyRef::adopt(PyList_New(static_cast<Py_ssize_t>(count * 2)));
    const bool good =
        items && decode_items(
                     in, static_cast<size_t>(count * 2),
                     [this](size_t i) -> const ValueCodec& { return i % 2 == 0 ? *key_ : *value_; },
                     type_text(), items.get());
    if (!good) return nullptr;
    PyRef dict = PyRef::adopt(PyDict_New());
    for (Py_ssize_t i = 0; dict && i < PyList_GET_SIZE(items.get()); i += 2) {
      if (PyDict_SetItem(dict.get(), PyList_GET_ITEM(items.get(), i),
                         PyList_GET_ITEM(items.get(), i + 1)) < 0)
        return nullptr;
    }
    return dict.release();
  }

 private:
  CodecPtr key_;
  CodecPtr value_;
};

Result<PyRef> row_type_of_names(const std::vector<std::string>& names) {
  try {
    const py::tuple as_tuple(py::cast(names));
    const py::object type = py::module_::import("penstock.common.row").attr("_row_type")(as_tuple);
    return PyRef::share(type.ptr());
  } catch (py::error_already_set& error) {
    return status_from_python_error(error, "making the row type");
  }
}

}  // namespace

Result<std::unique_ptr<const ValueCodec>> make_nested_codec(const ValueType& type) {
  std::vector<CodecPtr> children;
  for (const ValueType& child : type.children) {
    PENSTOCK_ASSIGN_OR_RETURN(CodecPtr codec, ValueCodec::make(child));
    children.push_back(std::move(codec));
  }
  if (type.kind == ValueKind::kList)
    return CodecPtr(std::make_unique<ListCodec>(type, std::move(children[0])));
  if (type.kind == ValueKind::kMap)
    return CodecPtr(
        std::make_unique<MapCodec>(type, std::move(children[0]), std::move(children[1])));
  PyRef row_type;
  if (type.kind == ValueKind::kRow) {
    PENSTOCK_ASSIGN_OR_RETURN(row_type, row_type_of_names(type.names));
  }
  return CodecPtr(std::make_unique<ProductCodec>(type, std::move(children), std::move(row_type)));
}

}  // namespace penstock::bindings
