// _core.operators: factories of operators and sinks, one call per instance.

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/arrow_operators.h"
#include "bindings/capsules.h"
#include "bindings/errors.h"
#include "bindings/function_operators.h"
#include "bindings/key_selector.h"
#include "bindings/keyed_reduce_operator.h"
#include "bindings/process_operator.h"
#include "bindings/python_sinks.h"
#include "bindings/python_timestamps.h"
#include "bindings/python_window_functions.h"
#include "bindings/register.h"
#include "bindings/rows.h"
#include "bindings/rows_host.h"
#include "bindings/state/process_context.h"
#include "operators/window/general_window_operator.h"
#include "operators/window/local_window_operator.h"
#include "operators/window/sliced_window_operator.h"
#include "sink/collect_sink.h"
#include "sink/discard_sink.h"

namespace py = pybind11;

namespace penstock::bindings {

namespace {

using OperatorPtr = std::shared_ptr<Operator>;
using Aggregates = std::vector<std::tuple<std::string, std::optional<std::string>, std::string>>;

PyRef callable(const py::object& object, const char* what) {
  if (PyCallable_Check(object.ptr()) == 0) {
    throw_status(Status::type_error(std::string(what) + " must be callable, not " +
                                    std::string(py::repr(object))));
  }
  return PyRef::share(object.ptr());
}

template <typename FunctionOperatorType>
OperatorPtr make_function(const py::object& function, const py::sequence& lifecycles) {
  return std::make_shared<FunctionOperatorType>(callable(function, "function"),
                                                Lifecycles(lifecycles));
}

template <typename ArrowOperatorType>
OperatorPtr make_arrow(const py::object& function) {
  return std::make_shared<ArrowOperatorType>(callable(function, "function"));
}

OperatorPtr make_rows_to_columns(const py::object& schema) {
  unwrap(schema_from_arrow(schema));  // fails now rather than with the first batch
  return std::make_shared<RowsToColumnsOperator>(PyRef::share(schema.ptr()));
}

OperatorPtr make_timestamps(const std::optional<std::string>& column, const py::object& function,
                            std::optional<int64_t> delay_ms, std::optional<int64_t> idle_ms,
                            int64_t interval_rows, int64_t interval_ms) {
  if (column && !function.is_none()) {
    throw_status(Status::invalid("timestamps come from a column or a function, not from both"));
  }
  if (interval_rows < 1 || interval_ms < 1) {
    throw_status(Status::invalid("the interval between watermarks must be at least 1"));
  }
  const WatermarkOptions options{delay_ms, idle_ms, interval_rows, interval_ms};
  if (function.is_none()) {
    std::unique_ptr<TimestampExtractor> extractor;
    if (column) extractor = std::make_unique<ColumnTimestamps>(*column);
    return std::make_shared<TimestampsOperator>(std::move(extractor), options);
  }
  auto extractor = std::make_unique<PythonTimestamps>(callable(function, "function"));
  CancelFlag* const flag = extractor->cancel_flag();  // lives as long as the guest
  auto guest = std::make_shared<TimestampsOperator>(std::move(extractor), options);
  // The function needs rows, and so will what follows: converted once, in front.
  return std::make_shared<RowsHost>(std::move(guest), Lifecycles(),
                                    [flag](const auto* cancelled) { flag->watch(cancelled); });
}

OperatorPtr make_key_selector(const std::optional<std::vector<std::string>>& columns,
                              const py::object& function, const py::sequence& lifecycles) {
  if (columns.has_value() != function.is_none()) {
    throw_status(Status::invalid("a key selector needs either columns or a function"));
  }
  if (!columns) {
    return std::make_shared<FunctionKeySelector>(callable(function, "function"),
                                                 Lifecycles(lifecycles));
  }
  if (columns->empty()) throw_status(Status::invalid("a key selector needs at least one column"));
  return std::make_shared<ColumnKeySelector>(*columns);
}

window::OverflowMode overflow_mode(const std::string& name) {
  if (name == "error") return window::OverflowMode::kError;
  if (name == "wrap") return window::OverflowMode::kWrap;
  raise(Status::invalid("overflow is 'error' or 'wrap', not '" + name + "'"));
}

window::WindowPlanPtr bind_plan(const std::vector<std::string>& keys, int64_t size_ms,
                                int64_t offset_ms, const Aggregates& aggregates,
                                const py::object& schema, const std::string& overflow) {
  window::WindowOptions options{keys, size_ms, offset_ms, {}, overflow_mode(overflow)};
  for (const auto& [kind, column, alias] : aggregates) {
    const auto parsed = unwrap(window::parse_aggregate_kind(kind, column.has_value()));
    options.aggregates.push_back({parsed, column.value_or(""), alias});
  }
  return unwrap(window::WindowPlan::bind(options, unwrap(schema_from_arrow(schema))));
}

OperatorPtr make_sliced_window(const std::vector<std::string>& keys, int64_t size_ms,
                               int64_t offset_ms, const Aggregates& aggregates,
                               const py::object& schema, bool partial, const std::string& overflow,
                               std::optional<int32_t> late_side) {
  window::WindowPlanPtr plan = bind_plan(keys, size_ms, offset_ms, aggregates, schema, overflow);
  return unwrap(window::SlicedWindowOperator::create(
      std::move(plan), {.partial_input = partial, .late_side = late_side}));
}

OperatorPtr make_local_window(const std::vector<std::string>& keys, int64_t size_ms,
                              int64_t offset_ms, const Aggregates& aggregates,
                              const py::object& schema, const std::string& overflow) {
  return std::make_shared<window::LocalWindowOperator>(
      bind_plan(keys, size_ms, offset_ms, aggregates, schema, overflow),
      window::LocalWindowOperator::Options{});
}

std::shared_ptr<PythonWindowFunctions> window_functions(const py::tuple& aggregator,
                                                        const py::object& window_function) {
  if (aggregator.size() != 2) {
    throw_status(Status::invalid("an aggregator is a kind and a function"));
  }
  PyRef after;
  if (!window_function.is_none()) after = callable(window_function, "window_function");
  const auto kind = aggregator[0].cast<std::string>();
  const py::object function = aggregator[1];
  if (kind == "reduce") {
    return std::make_shared<ReduceWindowFunctions>(callable(function, "reduce function"),
                                                   std::move(after));
  }
  if (kind == "aggregate") {
    return std::make_shared<AggregateWindowFunctions>(function, std::move(after));
  }
  raise(Status::invalid("an aggregator is 'reduce' or 'aggregate', not '" + kind + "'"));
}

OperatorPtr make_general_window(int64_t size_ms, int64_t offset_ms, int64_t allowed_lateness_ms,
                                const py::tuple& aggregator, const py::object& window_function,
                                bool window_all, std::optional<int32_t> late_side,
                                const py::sequence& lifecycles) {
  throw_status(window::check_tumbling(size_ms, offset_ms));
  window::GeneralWindowOptions options;
  options.assigner = std::make_shared<window::TumblingEventTimeWindows>(size_ms, offset_ms);
  options.trigger = std::make_shared<window::EventTimeTrigger>();
  const auto functions = window_functions(aggregator, window_function);
  options.functions = functions;
  options.allowed_lateness_ms = allowed_lateness_ms;
  options.late_side = late_side;
  options.window_all = window_all;
  return std::make_shared<RowsHost>(
      unwrap(window::GeneralWindowOperator::create(options)), Lifecycles(lifecycles),
      [functions](const auto* cancelled) { functions->cancel_flag()->watch(cancelled); });
}

py::object pop(ResultQueue& queue, int64_t timeout_ms) {
  auto popped = [&] {
    // Safe: the batch is only moved, its objects are not touched.
    const py::gil_scoped_release release;
    return queue.pop(std::chrono::milliseconds(timeout_ms));
  }();
  const ResultQueue::Popped result = unwrap(std::move(popped));
  if (result.kind == ResultQueue::PopKind::kTimeout) return py::none();
  if (result.kind == ResultQueue::PopKind::kEnd) return py::bool_(false);
  return list_from_objects(unwrap(as_rows(result.batch)).rows);
}

void register_row_operators(py::module_& m) {
  const auto no_lifecycles = py::arg("lifecycles") = py::tuple();
  m.def("map", &make_function<MapOperator>, py::arg("function"), no_lifecycles);
  m.def("filter", &make_function<FilterOperator>, py::arg("function"), no_lifecycles);
  m.def("flat_map", &make_function<FlatMapOperator>, py::arg("function"), no_lifecycles);
  m.def("arrow_map", &make_arrow<ArrowMapOperator>, py::arg("function"));
  m.def("arrow_filter", &make_arrow<ArrowFilterOperator>, py::arg("function"));
  m.def("rows_to_columns", &make_rows_to_columns, py::arg("schema"));
  m.def("timestamps", &make_timestamps, py::arg("column"), py::arg("function"), py::arg("delay_ms"),
        py::arg("idle_ms"), py::arg("interval_rows"), py::arg("interval_ms"));
  m.def("key_selector", &make_key_selector, py::arg("columns"), py::arg("function"), no_lifecycles);
}

OperatorPtr make_process(const py::object& function, const py::sequence& lifecycles,
                         std::vector<std::string> side_tags, bool keyed) {
  return std::make_shared<ProcessOperator>(function, Lifecycles(lifecycles), std::move(side_tags),
                                           keyed);
}

void register_keyed_operators(py::module_& m) {
  m.def("set_time_domains", &set_time_domains, py::arg("event_time"), py::arg("processing_time"));
  for (const bool keyed : {false, true}) {
    m.def(
        keyed ? "keyed_process" : "process",
        [keyed](const py::object& function, const py::sequence& lifecycles,
                std::vector<std::string> side_tags) {
          return make_process(function, lifecycles, std::move(side_tags), keyed);
        },
        py::arg("function"), py::arg("lifecycles") = py::tuple(),
        py::arg("side_tags") = std::vector<std::string>());
  }
  m.def("keyed_reduce", &make_function<KeyedReduceOperator>, py::arg("function"),
        py::arg("lifecycles") = py::tuple());
}

void register_windows(py::module_& m) {
  m.def("sliced_window", &make_sliced_window, py::arg("keys"), py::arg("size_ms"),
        py::arg("offset_ms"), py::arg("aggregates"), py::arg("schema"), py::arg("partial"),
        py::arg("overflow"), py::arg("late_side"));
  m.def("local_window", &make_local_window, py::arg("keys"), py::arg("size_ms"),
        py::arg("offset_ms"), py::arg("aggregates"), py::arg("schema"), py::arg("overflow"));
  m.def("general_window", &make_general_window, py::arg("size_ms"), py::arg("offset_ms"),
        py::arg("allowed_lateness_ms"), py::arg("aggregator"), py::arg("window_function"),
        py::arg("window_all"), py::arg("late_side"), py::arg("lifecycles") = py::tuple());
}

void register_sinks(py::module_& m) {
  py::class_<ResultQueue, std::shared_ptr<ResultQueue>>(
      m, "ResultQueue", "Results on their way to the client's thread; bounded.")
      .def(py::init<size_t>(), py::arg("capacity") = ResultQueue::kDefaultCapacity)
      .def("pop", &pop, py::arg("timeout_ms"))
      .def("close", &ResultQueue::close, py::call_guard<py::gil_scoped_release>());
  m.def(
      "collect_sink",
      [](std::shared_ptr<ResultQueue> queue) -> OperatorPtr {
        return std::make_shared<CollectSink>(std::move(queue));
      },
      py::arg("queue").none(false));
  m.def(
      "print_sink",
      [](std::string prefix, bool to_stderr) -> OperatorPtr {
        return std::make_shared<PrintSink>(std::move(prefix), to_stderr);
      },
      py::arg("prefix"), py::arg("to_stderr"));
  m.def("discard_sink", []() -> OperatorPtr { return std::make_shared<DiscardSink>(); });
  m.def("batch_sink", &make_function<BatchSink>, py::arg("function"),
        py::arg("lifecycles") = py::tuple());
  m.def("function_sink", &make_function<FunctionSink>, py::arg("function"),
        py::arg("lifecycles") = py::tuple());
}

}  // namespace

void register_operators(py::module_& module) {
  py::module_ m = module.def_submodule("operators", "Factories of operators and sinks.");
  py::class_<Operator, OperatorPtr>(m, "Operator",
                                    "An operator of one subtask, not yet part of a task.");
  m.def("set_runtime_context_factory", &set_runtime_context_factory, py::arg("factory"));
  register_row_operators(m);
  register_keyed_operators(m);
  register_windows(m);
  register_sinks(m);
}

}  // namespace penstock::bindings
