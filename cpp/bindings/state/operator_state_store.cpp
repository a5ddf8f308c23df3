#include "bindings/state/operator_state_store.h"

#include <algorithm>
#include <utility>

#include "bindings/errors.h"
#include "bindings/value_codec.h"
#include "snapshot/bytes.h"

namespace py = pybind11;

namespace penstock::bindings {

namespace {

// The engine's own lists.
constexpr const char* kReserved[] = {"watermark"};

py::object adopt(PyObject* object) {
  if (object == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(object);
}

// ListState of an operator: its items are those of the store.
class OperatorListState {
 public:
  OperatorListState(std::shared_ptr<ListStateData> data, std::unique_ptr<const ValueCodec> codec)
      : data_(std::move(data)), codec_(std::move(codec)) {}

  [[nodiscard]] py::list get() const {
    py::list out;
    for (const std::string& item : data_->items) out.append(adopt(codec_->decode_all(item)));
    return out;
  }
  void add(const py::object& value) { data_->items.push_back(encode(value)); }
  void add_all(const py::iterable& values) {
    std::vector<std::string> items = encode_all(values);
    std::move(items.begin(), items.end(), std::back_inserter(data_->items));
  }
  void update(const py::iterable& values) { data_->items = encode_all(values); }
  void clear() { data_->items.clear(); }

 private:
  [[nodiscard]] std::string encode(const py::handle& value) const {
    std::string bytes;
    throw_status(codec_->encode(value.ptr(), &bytes)
                     .with_context("operator state '" + data_->meta.name + "'"));
    return bytes;
  }
  [[nodiscard]] std::vector<std::string> encode_all(const py::iterable& values) const {
    std::vector<std::string> items;
    for (const py::handle value : values) items.push_back(encode(value));
    return items;
  }

  std::shared_ptr<ListStateData> data_;
  std::unique_ptr<const ValueCodec> codec_;
};

// BroadcastState: a map with the same content in all subtasks. An item is a user key (bytes) and a
// value, in the order of the keys.
class BroadcastState {
 public:
  BroadcastState(std::shared_ptr<ListStateData> data, std::unique_ptr<const UserKeyCodec> keys,
                 std::unique_ptr<const ValueCodec> values)
      : data_(std::move(data)), keys_(std::move(keys)), values_(std::move(values)) {}

  py::object get(const py::object& key) const {
    const std::string bytes = encode_key(key);
    const auto at = place(bytes);
    return at != data_->items.end() && key_of(*at) == bytes ? value_of(*at) : py::none();
  }
  [[nodiscard]] bool contains(const py::object& key) const {
    const std::string bytes = encode_key(key);
    const auto at = place(bytes);
    return at != data_->items.end() && key_of(*at) == bytes;
  }
  void put(const py::object& key, const py::object& value) {
    const std::string bytes = encode_key(key);
    std::string item;
    put_bytes(&item, bytes);
    throw_status(values_->encode(value.ptr(), &item).with_context(what()));
    const auto at = place(bytes);
    if (at != data_->items.end() && key_of(*at) == bytes) {
      *at = std::move(item);
    } else {
      data_->items.insert(at, std::move(item));
    }
  }
  void remove(const py::object& key) {
    const std::string bytes = encode_key(key);
    const auto at = place(bytes);
    if (at != data_->items.end() && key_of(*at) == bytes) data_->items.erase(at);
  }
  [[nodiscard]] py::list keys() const {
    py::list out;
    for (const std::string& item : data_->items) out.append(adopt(keys_->decode(key_of(item))));
    return out;
  }
  [[nodiscard]] py::list items() const {
    py::list out;
    for (const std::string& item : data_->items)
      out.append(py::make_tuple(adopt(keys_->decode(key_of(item))), value_of(item)));
    return out;
  }
  [[nodiscard]] bool is_empty() const { return data_->items.empty(); }
  void clear() { data_->items.clear(); }

 private:
  using Items = std::vector<std::string>;
  [[nodiscard]] std::string what() const { return "broadcast state '" + data_->meta.name + "'"; }
  [[nodiscard]] std::string encode_key(const py::object& key) const {
    std::string bytes;
    throw_status(keys_->encode(key.ptr(), &bytes).with_context(what()));
    return bytes;
  }
  static std::string_view key_of(std::string_view item) {
    ByteReader reader(item);
    std::string_view key;
    return reader.get_bytes(&key) ? key : std::string_view();
  }
  [[nodiscard]] py::object value_of(std::string_view item) const {
    return adopt(values_->decode_all(item.substr(sizeof(uint32_t) + key_of(item).size())));
  }
  // Where the key is, or would be.
  [[nodiscard]] Items::iterator place(const std::string& key) const {
    return std::lower_bound(
        data_->items.begin(), data_->items.end(), key,
        [](const std::string& item, const std::string& wanted) { return key_of(item) < wanted; });
  }

  std::shared_ptr<ListStateData> data_;
  std::unique_ptr<const UserKeyCodec> keys_;
  std::unique_ptr<const ValueCodec> values_;
};

bool is_ours(const std::string& name) {
  return std::find(std::begin(kReserved), std::end(kReserved), name) != std::end(kReserved);
}

}  // namespace

void OperatorStateStore::restore(const OperatorState* restored) {
  is_restored_ = restored != nullptr;
  if (restored == nullptr) return;
  for (const ListStateData& list : restored->lists) {
    if (!is_ours(list.meta.name)) lists_[list.meta.name] = std::make_shared<ListStateData>(list);
  }
}

void OperatorStateStore::snapshot(OperatorState* state) const {
  for (const auto& [name, list] : lists_) state->lists.push_back(*list);
}

OperatorStateStore::ListPtr OperatorStateStore::find_or_add(const StateMeta& meta) {
  if (meta.name.empty() || is_ours(meta.name)) {
    throw_status(Status::invalid(meta.name.empty() ? "an operator state needs a name"
                                                   : "'" + meta.name +
                                                         "' is the name of a state of the engine's "
                                                         "own; choose another"));
  }
  ListPtr& list = lists_[meta.name];
  if (list == nullptr) {
    list = std::make_shared<ListStateData>();
    list->meta = meta;
  }
  const StateMeta& known = list->meta;
  if (known.kind != meta.kind || known.value_type != meta.value_type) {
    throw_status(Status::type_error(
        "operator state '" + meta.name + "' is asked for as " + to_string(meta.kind) + " of " +
        meta.value_type + ", but it is " + to_string(known.kind) + " of " + known.value_type));
  }
  return list;
}

py::object OperatorStateStore::list_state(const std::string& name, const std::string& element_type,
                                          bool is_union) {
  const StateKind kind = is_union ? StateKind::kOperatorUnionList : StateKind::kOperatorList;
  auto codec = unwrap(ValueCodec::make(element_type));
  return py::cast(
      OperatorListState(find_or_add({name, kind, "", "", element_type}), std::move(codec)));
}

py::object OperatorStateStore::broadcast_state(const std::string& name, const std::string& key_type,
                                               const std::string& value_type) {
  auto keys = unwrap(UserKeyCodec::make(key_type));
  auto values = unwrap(ValueCodec::make(value_type));
  const std::string type = "MAP<" + key_type + ", " + value_type + ">";
  return py::cast(BroadcastState(find_or_add({name, StateKind::kBroadcast, "", "", type}),
                                 std::move(keys), std::move(values)));
}

void register_operator_state_store(py::module_& module) {
  py::class_<OperatorListState>(module, "OperatorListState", "A list state without a key.")
      .def("get", &OperatorListState::get)
      .def("add", &OperatorListState::add, py::arg("value"))
      .def("add_all", &OperatorListState::add_all, py::arg("values"))
      .def("update", &OperatorListState::update, py::arg("values"))
      .def("clear", &OperatorListState::clear)
      .def("__iter__", [](const OperatorListState& self) { return py::iter(self.get()); });
  py::class_<BroadcastState>(module, "BroadcastStateHandle", "A map state without a key.")
      .def("get", &BroadcastState::get, py::arg("key"))
      .def("contains", &BroadcastState::contains, py::arg("key"))
      .def("put", &BroadcastState::put, py::arg("key"), py::arg("value"))
      .def("remove", &BroadcastState::remove, py::arg("key"))
      .def("keys", &BroadcastState::keys)
      .def("items", &BroadcastState::items)
      .def("is_empty", &BroadcastState::is_empty)
      .def("clear", &BroadcastState::clear)
      .def("__contains__", &BroadcastState::contains, py::arg("key"))
      .def("__iter__", [](const BroadcastState& self) { return py::iter(self.keys()); });
  py::class_<OperatorStateStore, std::shared_ptr<OperatorStateStore>>(
      module, "OperatorStateStore", "Where a CheckpointedFunction gets its state from.")
      .def("list_state", &OperatorStateStore::list_state, py::arg("name"),
           py::arg("element_type_spec"), py::arg("is_union"))
      .def("broadcast_state", &OperatorStateStore::broadcast_state, py::arg("name"),
           py::arg("key_type_spec"), py::arg("value_type_spec"))
      .def_property_readonly("is_restored", &OperatorStateStore::is_restored);
}

}  // namespace penstock::bindings
