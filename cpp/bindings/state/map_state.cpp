// MapState: keys and values of the current key, with the methods of PyFlink's and of a Python mapping.
//
// Iterators fetch the entries in groups of kEntriesPerScan, each from behind the last user key of the
// group before. So a map may be changed while it is iterated over: an iterator ends, and gives out no
// key twice. Changes ahead of it show from the next group on; entries of its group come as they were
// when the group was fetched.
#include <optional>
#include <utility>
#include <vector>

#include "bindings/errors.h"
#include "bindings/state/handle.h"
#include "bindings/state/state_handles.h"

namespace py = pybind11;

namespace penstock::bindings {

namespace {

constexpr size_t kEntriesPerScan = 128;

struct MapState : StateHandle {
  std::unique_ptr<const UserKeyCodec> keys;
  MapTable* table;
  std::string user_key{};
  MapState(StateHandle base, std::unique_ptr<const UserKeyCodec> k, MapTable* t)
      : StateHandle(std::move(base)), keys(std::move(k)), table(t) {}

  // Encodes into user_key; false with the Python error set.
  bool take_key(PyObject* key) {
    if (!ready()) return false;
    user_key.clear();
    const Converting converting(access.get());
    const Status status = keys->encode(key, &user_key);
    if (!status.is_ok()) (void)fail(status);
    return status.is_ok();
  }
};

enum class Part : uint8_t { kItems, kKeys, kValues };

struct MapIterator {
  PyRef state;      // the MapState that it belongs to
  std::string key;  // whose map it is
  uint32_t hash = 0;
  Part part = Part::kItems;
  // Decoded and not given out yet, backwards.
  std::vector<PyRef> waiting{};
  std::optional<std::string> last{};
  bool ended = false;
};

PyTypeObject* map_type = nullptr;
PyTypeObject* iterator_type = nullptr;

// --- the iterator -------------------------------------------------------------------------------------

PyRef entry_object(const MapState& map, Part part, const MapTable::UserEntry& entry) {
  PyRef key;
  PyRef value;
  if (part != Part::kValues) {
    const Converting converting(map.access.get());
    key = PyRef::adopt(map.keys->decode(entry.first));
  }
  if (part != Part::kKeys) value = PyRef::adopt(map.decode(entry.second));
  if (part == Part::kKeys) return key;
  if (part == Part::kValues) return value;
  return key && value ? PyRef::adopt(PyTuple_Pack(2, key.get(), value.get())) : PyRef();
}

// False with the Python error set.
bool fetch(MapIterator& self) {
  MapState& map = impl_of<MapState>(self.state.get());
  if (map.access->backend == nullptr) return map.ready();
  std::vector<MapTable::UserEntry> entries;
  const Status status =
      map.table->scan({self.key, self.hash, {}}, self.last, kEntriesPerScan, &entries);
  if (!status.is_ok()) return map.fail(status) != nullptr;
  self.ended = entries.size() < kEntriesPerScan;
  if (!entries.empty()) self.last = std::string(entries.back().first);
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
    PyRef object = entry_object(map, self.part, *entry);
    if (!object) return false;
    self.waiting.push_back(std::move(object));
  }
  return true;
}

PyObject* iterator_next(PyObject* object) {
  MapIterator& self = impl_of<MapIterator>(object);
  if (self.waiting.empty() && !self.ended && !fetch(self)) {
    self.waiting.clear();
    self.ended = true;
    return nullptr;
  }
  if (self.waiting.empty()) return nullptr;
  PyRef next = std::move(self.waiting.back());
  self.waiting.pop_back();
  return next.release();
}

PyObject* iterate(PyObject* object, Part part) {
  MapState& self = impl_of<MapState>(object);
  if (!self.ready()) return nullptr;
  auto iterator = std::make_unique<MapIterator>();
  iterator->state = PyRef::share(object);
  iterator->key = self.access->current.key;
  iterator->hash = self.access->current.hash;
  iterator->part = part;
  return make_handle(iterator_type, std::move(iterator));
}

PyObject* map_items(PyObject* self, PyObject*) { return iterate(self, Part::kItems); }
PyObject* map_keys(PyObject* self, PyObject*) { return iterate(self, Part::kKeys); }
PyObject* map_values(PyObject* self, PyObject*) { return iterate(self, Part::kValues); }
PyObject* map_iterate(PyObject* self) { return iterate(self, Part::kKeys); }

// --- single entries --------------------------------------------------------------------------------

// The value, or nullptr: then `*absent` says whether it is an error.
PyObject* lookup(MapState& self, PyObject* key, bool* absent) {
  *absent = false;
  if (!self.take_key(key)) return nullptr;
  auto found = self.table->get(self.access->current, self.user_key);
  if (!found.is_ok()) return self.fail(found.status());
  *absent = !found.value().has_value();
  return *absent ? nullptr : self.decode(*found.value());
}

PyObject* map_get(MapState& self, PyObject* key) {
  bool absent = false;
  PyObject* const value = lookup(self, key, &absent);
  return absent ? none() : value;
}

PyObject* map_subscript(PyObject* object, PyObject* key) {
  bool absent = false;
  PyObject* const value = lookup(impl_of<MapState>(object), key, &absent);
  if (absent) PyErr_SetObject(PyExc_KeyError, key);
  return value;
}

int map_contains_key(PyObject* object, PyObject* key) {
  MapState& self = impl_of<MapState>(object);
  if (!self.take_key(key)) return -1;
  const auto found = self.table->get(self.access->current, self.user_key);
  if (!found.is_ok()) {
    (void)self.fail(found.status());
    return -1;
  }
  return found.value() ? 1 : 0;
}

PyObject* map_contains(PyObject* self, PyObject* key) {
  const int found = map_contains_key(self, key);
  return found < 0 ? nullptr : PyBool_FromLong(found);
}

bool put(MapState& self, PyObject* key, PyObject* value) {
  if (!self.take_key(key) || !self.encode(value)) return false;
  const Status status = self.table->put(self.access->current, self.user_key, self.scratch);
  if (!status.is_ok()) (void)self.fail(status);
  return status.is_ok();
}

PyObject* map_put(PyObject* object, PyObject* const* arguments, Py_ssize_t count) {
  if (count != 2) {
    PyErr_SetString(PyExc_TypeError, "put() takes a key and a value");
    return nullptr;
  }
  return put(impl_of<MapState>(object), arguments[0], arguments[1]) ? none() : nullptr;
}

PyObject* map_remove(MapState& self, PyObject* key) {
  if (!self.take_key(key)) return nullptr;
  return self.done(self.table->remove(self.access->current, self.user_key));
}

int map_assign(PyObject* object, PyObject* key, PyObject* value) {
  MapState& self = impl_of<MapState>(object);
  if (value != nullptr) return put(self, key, value) ? 0 : -1;
  const int found = map_contains_key(object, key);
  if (found == 0) PyErr_SetObject(PyExc_KeyError, key);
  if (found <= 0) return -1;
  const PyRef removed = PyRef::adopt(map_remove(self, key));
  return removed ? 0 : -1;
}

// --- the whole map ------------------------------------------------------------------------------------

// A dict, or anything with items() or of pairs.
PyObject* map_put_all(MapState& self, PyObject* mapping) {
  const PyRef as_dict =
      PyDict_Check(mapping)
          ? PyRef::share(mapping)
          : PyRef::adopt(PyObject_CallOneArg(reinterpret_cast<PyObject*>(&PyDict_Type), mapping));
  if (!as_dict) return nullptr;
  const PyRef items = PyRef::adopt(PyDict_Items(as_dict.get()));
  for (Py_ssize_t i = 0; items && i < PyList_GET_SIZE(items.get()); ++i) {
    PyObject* const pair = PyList_GET_ITEM(items.get(), i);
    if (!put(self, PyTuple_GET_ITEM(pair, 0), PyTuple_GET_ITEM(pair, 1))) return nullptr;
  }
  return items ? none() : nullptr;
}

PyObject* map_is_empty(MapState& self) {
  if (!self.ready()) return nullptr;
  const auto empty = self.table->is_empty(self.access->current);
  return empty.is_ok() ? PyBool_FromLong(empty.value() ? 1 : 0) : self.fail(empty.status());
}

PyObject* map_clear(MapState& self) {
  return self.ready() ? self.done(self.table->clear(self.access->current)) : nullptr;
}

Py_ssize_t map_length(PyObject* object) {
  MapState& self = impl_of<MapState>(object);
  if (!self.ready()) return -1;
  std::vector<MapTable::UserEntry> entries;
  std::optional<std::string> last;
  Py_ssize_t count = 0;
  do {
    const Status status = self.table->scan(self.access->current, last, kEntriesPerScan, &entries);
    if (!status.is_ok()) {
      (void)self.fail(status);
      return -1;
    }
    count += static_cast<Py_ssize_t>(entries.size());
    if (!entries.empty()) last = std::string(entries.back().first);
  } while (entries.size() == kEntriesPerScan);
  return count;
}

PyMethodDef map_methods[] = {
    method<&map_get>("get",
                     "get($self, key, /)\n--\n\n"
                     "The value of a key of the map; None when there is none."),
    {"put", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(&map_put)), METH_FASTCALL,
     "put($self, key, value, /)\n--\n\n"
     "Sets the value of a key of the map."},
    method<&map_put_all>("put_all",
                         "put_all($self, dict_value, /)\n--\n\n"
                         "Puts all entries of a dict."),
    method<&map_remove>("remove",
                        "remove($self, key, /)\n--\n\n"
                        "Removes a key of the map; fine when it is not there."),
    {"contains", &map_contains, METH_O,
     "contains($self, key, /)\n--\n\n"
     "Whether the map has the key."},
    {"items", &map_items, METH_NOARGS,
     "items($self, /)\n--\n\n"
     "The entries as (key, value), in the order of the keys."},
    {"keys", &map_keys, METH_NOARGS,
     "keys($self, /)\n--\n\n"
     "The keys, in order."},
    {"values", &map_values, METH_NOARGS,
     "values($self, /)\n--\n\n"
     "The values, in the order of their keys."},
    method<&map_is_empty>("is_empty",
                          "is_empty($self, /)\n--\n\n"
                          "Whether the map has no entries."),
    method<&map_clear>("clear",
                       "clear($self, /)\n--\n\n"
                       "Removes all entries."),
    {}};

template <typename Function>
void* slot(Function function) {
  return reinterpret_cast<void*>(function);
}

}  // namespace

PyObject* make_map_state(StateHandle base, std::unique_ptr<const UserKeyCodec> keys,
                         MapTable* table) {
  return make_handle(map_type, std::make_unique<MapState>(std::move(base), std::move(keys), table));
}

void register_map_state(py::module_& module) {
  PyType_Slot map_slots[] = {{Py_tp_methods, map_methods},
                             {Py_tp_dealloc, slot(&destroy_handle<MapState>)},
                             {Py_tp_iter, slot(&map_iterate)},
                             {Py_mp_subscript, slot(&map_subscript)},
                             {Py_mp_ass_subscript, slot(&map_assign)},
                             {Py_mp_length, slot(&map_length)},
                             {Py_sq_contains, slot(&map_contains_key)},
                             {0, nullptr}};
  PyType_Slot iterator_slots[] = {{Py_tp_iter, slot(&PyObject_SelfIter)},
                                  {Py_tp_iternext, slot(&iterator_next)},
                                  {Py_tp_dealloc, slot(&destroy_handle<MapIterator>)},
                                  {0, nullptr}};
  map_type = make_handle_type<MapState>("penstock._core.state.MapStateHandle", map_slots);
  iterator_type =
      make_handle_type<MapIterator>("penstock._core.state.MapStateIterator", iterator_slots);
  if (map_type == nullptr || iterator_type == nullptr) throw py::error_already_set();
  module.add_object("MapStateHandle", py::handle(reinterpret_cast<PyObject*>(map_type)));
}

}  // namespace penstock::bindings
