// _core.source: factories of sources, one call per instance, and the data they share.

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/capsules.h"
#include "bindings/errors.h"
#include "bindings/register.h"
#include "bindings/rows.h"
#include "source/arrow_source.h"
#include "source/generator_source.h"
#include "source/scripted_source.h"

namespace py = pybind11;

namespace penstock::bindings {

namespace {

using SourcePtr = std::shared_ptr<Source>;
using ColumnArguments = std::tuple<std::string, std::string, py::dict>;

struct ObjectTable {
  ObjectColumn objects;
};

int64_t check_batch_rows(int64_t batch_rows) {
  if (batch_rows < 1) {
    throw_status(
        Status::invalid("batch_rows must be at least 1, not " + std::to_string(batch_rows)));
  }
  return batch_rows;
}

std::shared_ptr<ArrowTable> make_arrow_table(const py::object& object) {
  return std::make_shared<ArrowTable>(unwrap(read_arrow_stream(object)).batches);
}

SourcePtr make_arrow(const std::shared_ptr<ArrowTable>& table, int64_t batch_rows) {
  return std::make_shared<ArrowSource>(table, check_batch_rows(batch_rows));
}

SourcePtr make_collection(const ObjectTable& table, int64_t batch_rows) {
  return std::make_shared<ObjectSource>(table.objects, check_batch_rows(batch_rows));
}

// The parameters of one generated column.
class Parameters {
 public:
  Parameters(const std::string& column, const py::dict& values)
      : column_(column), values_(values) {}

  template <typename T>
  T get(const char* name) const {
    if (!values_.contains(name)) refuse(name, "is missing");
    try {
      return values_[name].cast<T>();
    } catch (py::cast_error&) {
      refuse(name, "cannot be " + std::string(py::repr(values_[name])));
    }
  }

 private:
  [[noreturn]] void refuse(const char* name, const std::string& why) const {
    raise(Status::invalid("column '" + column_ + "': parameter '" + name + "' " + why));
  }
  const std::string& column_;
  const py::dict& values_;
};

// All str, all int or all float.
ChoiceColumn choice_column(const Parameters& parameters) {
  const auto values = parameters.get<py::sequence>("values");
  if (values.size() == 0) return {};
  const py::object first = values[0];
  if (py::isinstance<py::str>(first)) return {parameters.get<std::vector<std::string>>("values")};
  if (py::isinstance<py::int_>(first)) return {parameters.get<std::vector<int64_t>>("values")};
  return {parameters.get<std::vector<double>>("values")};
}

GeneratedValues generated_values(const std::string& name, const std::string& kind,
                                 const py::dict& values) {
  const Parameters in(name, values);
  if (kind == "sequence") return SequenceColumn{in.get<int64_t>("start"), in.get<int64_t>("step")};
  if (kind == "int") return IntColumn{in.get<int64_t>("min"), in.get<int64_t>("max")};
  if (kind == "float") return FloatColumn{in.get<double>("min"), in.get<double>("max")};
  if (kind == "bool") return BoolColumn{in.get<double>("probability")};
  if (kind == "choice") return choice_column(in);
  if (kind == "string") {
    return StringColumn{in.get<std::string>("prefix"), in.get<uint64_t>("cardinality")};
  }
  if (kind == "timestamp") {
    return TimestampColumn{in.get<int64_t>("start"), in.get<double>("step"),
                           in.get<int64_t>("disorder"), in.get<int64_t>("late"),
                           in.get<double>("late_fraction")};
  }
  raise(Status::invalid("column '" + name + "': there is no kind '" + kind + "'"));
}

SourcePtr make_generator(const std::vector<ColumnArguments>& columns, std::optional<int64_t> count,
                         uint64_t seed, std::optional<double> rate, int64_t batch_rows) {
  GeneratorOptions options;
  for (const auto& [name, kind, values] : columns) {
    options.columns.push_back({name, generated_values(name, kind, values)});
  }
  options.count = count;
  options.seed = seed;
  options.rows_per_second = rate.value_or(0);
  options.batch_rows = check_batch_rows(batch_rows);
  return unwrap(GeneratorSource::create(std::move(options)));
}

Batch scripted_rows(const py::tuple& item) {
  Batch batch = make_rows(unwrap(objects_from_iterable(item[1])));
  if (item.size() < 3 || item[2].is_none()) return batch;
  auto timestamps = item[2].cast<std::vector<int64_t>>();
  if (static_cast<int64_t>(timestamps.size()) != batch.num_rows) {
    throw_status(Status::invalid(std::to_string(timestamps.size()) + " timestamps for " +
                                 std::to_string(batch.num_rows) + " rows in a script"));
  }
  batch.timestamps = int64_column(std::move(timestamps));
  return batch;
}

Element scripted_element(const py::tuple& item) {
  const auto kind = item.empty() ? std::string() : item[0].cast<std::string>();
  if (kind == "idle") return WatermarkStatus{true};
  if (kind == "active") return WatermarkStatus{false};
  if (kind == "rows" && item.size() >= 2) return scripted_rows(item);
  if (kind == "batch" && item.size() == 2) return item[1].cast<Batch>();
  if (kind == "watermark" && item.size() == 2) return Watermark{item[1].cast<int64_t>()};
  raise(Status::invalid("no item of a script: " + std::string(py::repr(item))));
}

SourcePtr make_scripted(const py::sequence& script) {
  std::vector<Element> elements;
  for (const py::handle item : script) elements.push_back(scripted_element(item.cast<py::tuple>()));
  return std::make_shared<ScriptedSource>(std::move(elements));
}

void register_tables(py::module_& m) {
  py::class_<ArrowTable, std::shared_ptr<ArrowTable>>(
      m, "ArrowTable", "Arrow data in memory, shared by the sources of all subtasks.")
      .def(py::init(&make_arrow_table), py::arg("obj"))
      .def_property_readonly("num_rows", &ArrowTable::num_rows);
  py::class_<ObjectTable>(m, "ObjectTable",
                          "Python objects in memory, shared by the sources of all subtasks.")
      .def(py::init([](const py::object& items) {
             return ObjectTable{unwrap(objects_from_iterable(items))};
           }),
           py::arg("items"))
      .def_property_readonly("num_rows",
                             [](const ObjectTable& self) { return self.objects.length; });
}

}  // namespace

void register_source(py::module_& module) {
  py::module_ m = module.def_submodule("source", "Factories of sources.");
  py::class_<Source, SourcePtr>(m, "Source", "A source of one subtask, not yet part of a task.");
  register_tables(m);
  m.def("arrow", &make_arrow, py::arg("table").none(false), py::arg("batch_rows"));
  m.def("collection", &make_collection, py::arg("table"), py::arg("batch_rows"));
  m.def("generator", &make_generator, py::arg("columns"), py::arg("count"), py::arg("seed"),
        py::arg("rate"), py::arg("batch_rows"));
  m.def("scripted", &make_scripted, py::arg("script"));
}

}  // namespace penstock::bindings
