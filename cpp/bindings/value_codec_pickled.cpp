// The codec of values without a declared type. None, bools, ints, floats, texts, bytes and tuples of
// them have an encoding of their own, which costs little and is readable from outside; everything
// else is a pickle, and marked as one.
//
//   'N' None   'T' True   'F' False   'i' i64   'd' f64   's' varint size, UTF-8
//   'b' varint size, bytes   '(' varint count, items   'P' varint size, a pickle
#include <cstring>

#include "bindings/errors.h"
#include "bindings/value_codecs.h"

namespace py = pybind11;

namespace penstock::bindings {

namespace {

// Deeper tuples are pickled.
constexpr int kMaxDepth = 32;

// Kept for the life of the process. Guarded by the GIL.
struct Pickle {
  PyObject* dumps;
  PyObject* loads;
  static const Pickle& get() {
    static const Pickle pickle = [] {
      const py::module_ module = py::module_::import("pickle");
      return Pickle{py::object(module.attr("dumps")).release().ptr(),
                    py::object(module.attr("loads")).release().ptr()};
    }();
    return pickle;
  }
};

class PickledCodec final : public ValueCodec {
 public:
  explicit PickledCodec(const ValueType& type) : ValueCodec(type) {}
  Status encode(PyObject* value, std::string* out) const override {
    return encode_object(value, out, 0);
  }
  PyObject* decode(ByteReader* in) const override { return decode_object(in, 0); }

 private:
  // Exact types only: a subclass has to come back as what it was.
  Status encode_object(PyObject* value, std::string* out, int depth) const {
    if (PyLong_CheckExact(value)) {
      int overflow = 0;
      const long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
      if (overflow != 0) return encode_pickle(value, out);
      out->push_back('i');
      put_u64(out, static_cast<uint64_t>(number));
      return Status::ok();
    }
    if (PyUnicode_CheckExact(value)) return encode_text(value, out);
    if (PyTuple_CheckExact(value) && depth < kMaxDepth) return encode_tuple(value, out, depth);
    if (PyFloat_CheckExact(value)) {
      const double number = PyFloat_AS_DOUBLE(value);
      uint64_t bits = 0;
      std::memcpy(&bits, &number, sizeof(bits));
      out->push_back('d');
      put_u64(out, bits);
      return Status::ok();
    }
    if (value == Py_None || PyBool_Check(value)) {
      out->push_back(value == Py_None ? 'N' : value == Py_True ? 'T' : 'F');
      return Status::ok();
    }
    if (PyBytes_CheckExact(value)) {
      out->push_back('b');
      put_sized(out, {PyBytes_AS_STRING(value), static_cast<size_t>(PyBytes_GET_SIZE(value))});
      return Status::ok();
    }
    return encode_pickle(value, out);
  }

  Status encode_text(PyObject* value, std::string* out) const {
    Py_ssize_t size = 0;
    const char* const text = PyUnicode_AsUTF8AndSize(value, &size);
    if (text == nullptr) {  // lone surrogates
      PyErr_Clear();
      return encode_pickle(value, out);
    }
    out->push_back('s');
    put_sized(out, {text, static_cast<size_t>(size)});
    return Status::ok();
  }

  Status encode_tuple(PyObject* value, std::string* out, int depth) const {
    const Py_ssize_t count = PyTuple_GET_SIZE(value);
    out->push_back('(');
    key_bytes::append_varint(static_cast<uint64_t>(count), out);
    for (Py_ssize_t i = 0; i < count; ++i) {
      PENSTOCK_RETURN_NOT_OK(encode_object(PyTuple_GET_ITEM(value, i), out, depth + 1));
    }
    return Status::ok();
  }

  Status encode_pickle(PyObject* value, std::string* out) const {
    PyRef bytes = PyRef::adopt(PyObject_CallFunction(Pickle::get().dumps, "Oi", value, 5));
    if (!bytes) {
      // Lambdas, and classes of a program that runs elsewhere. Imported when it is needed only.
      PyErr_Clear();
      const PyRef cloudpickle = PyRef::adopt(PyImport_ImportModule("cloudpickle"));
      if (cloudpickle)
        bytes = PyRef::adopt(PyObject_CallMethod(cloudpickle.get(), "dumps", "Oi", value, 5));
    }
    if (!bytes)
      return misfit(value, status_from_python_error("it cannot be pickled").message().c_str());
    out->push_back('P');
    put_sized(out,
              {PyBytes_AS_STRING(bytes.get()), static_cast<size_t>(PyBytes_GET_SIZE(bytes.get()))});
    return Status::ok();
  }

  PyObject* decode_object(ByteReader* in, int depth) const {
    uint8_t tag = 0;
    if (!in->get_u8(&tag)) return damaged_value(type_text());
    switch (tag) {
      case 'N':
        return Py_NewRef(Py_None);
      case 'T':
        return Py_NewRef(Py_True);
      case 'F':
        return Py_NewRef(Py_False);
      case 'i':
      case 'd':
        return decode_number(in, tag == 'd');
      case '(':
        return depth < kMaxDepth ? decode_tuple(in, depth) : damaged_value(type_text());
      case 's':
      case 'b':
      case 'P':
        return decode_sized(in, tag);
      default:
        return damaged_value(type_text());
    }
  }

  PyObject* decode_number(ByteReader* in, bool is_double) const {
    uint64_t bits = 0;
    if (!in->get_u64(&bits)) return damaged_value(type_text());
    if (!is_double) return PyLong_FromLongLong(static_cast<int64_t>(bits));
    double number = 0;
    std::memcpy(&number, &bits, sizeof(bits));
    return PyFloat_FromDouble(number);
  }

  PyObject* decode_tuple(ByteReader* in, int depth) const {
    uint64_t count = 0;
    if (!read_varint(in, &count) || count > in->rest().size()) return damaged_value(type_text());
    PyRef tuple = PyRef::adopt(PyTuple_New(static_cast<Py_ssize_t>(count)));
    for (uint64_t i = 0; tuple && i < count; ++i) {
      PyObject* const item = decode_object(in, depth + 1);
      if (item == nullptr) return nullptr;
      PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), item);
    }
    return tuple.release();
  }

  PyObject* decode_sized(ByteReader* in, uint8_t tag) const {
    std::string_view bytes;
    if (!read_sized(in, &bytes)) return damaged_value(type_text());
    const auto size = static_cast<Py_ssize_t>(bytes.size());
    if (tag == 's') return made_of(PyUnicode_DecodeUTF8(bytes.data(), size, nullptr));
    const PyRef raw = PyRef::adopt(PyBytes_FromStringAndSize(bytes.data(), size));
    if (!raw || tag == 'b') return raw ? Py_NewRef(raw.get()) : nullptr;
    return PyObject_CallOneArg(Pickle::get().loads, raw.get());
  }
};

}  // namespace

std::unique_ptr<const ValueCodec> make_pickled_codec(const ValueType& type) {
  return std::make_unique<PickledCodec>(type);
}

}  // namespace penstock::bindings
