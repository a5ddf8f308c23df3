// _core.task: jobs on threads of this process, and single subtasks driven by hand.

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings/elements.h"
#include "bindings/errors.h"
#include "bindings/python_file_system.h"
#include "bindings/register.h"
#include "task/local_executor.h"
#include "task/task_driver.h"

namespace py = pybind11;

namespace penstock::bindings {

namespace {

Partitioning partitioning_of(const std::string& kind,
                             std::optional<std::vector<std::string>> key_columns) {
  return {unwrap(partitioning_kind(kind)), std::move(key_columns)};
}

// Runs `action` without the GIL and gives back what it returned: tasks need the GIL to end.
template <typename Action>
auto without_gil(Action action) {
  const py::gil_scoped_release release;
  return action();
}

py::dict metrics_of(const TaskInfo& task, const ChainNodeSpec& node,
                    const OperatorMetrics& metrics) {
  py::dict out;
  out["vertex"] = task.vertex;
  out["subtask"] = task.subtask;
  out["uid"] = node.uid;
  out["name"] = node.name;
  out["records_in"] = metrics.records_in.load();
  out["records_out"] = metrics.records_out.load();
  out["late_records_dropped"] = metrics.late_records_dropped.load();
  out["windows_fired"] = metrics.windows_fired.load();
  out["current_watermark"] = metrics.current_watermark.load();
  return out;
}

void append_metrics(const OperatorChain& chain, py::list* out) {
  for (size_t i = 0; i < chain.size(); ++i) {
    out->append(metrics_of(chain.info(), chain.node_spec(i), chain.metrics(i)));
  }
}

StateBackendConfigPtr backend_config(std::string kind, std::map<std::string, std::string> options) {
  return std::make_shared<const StateBackendConfig>(
      StateBackendConfig{std::move(kind), std::move(options)});
}

AfterSavepoint after_savepoint(const std::string& after) {
  if (after == "go on") return AfterSavepoint::kGoOn;
  if (after == "suspend") return AfterSavepoint::kSuspend;
  if (after == "drain") return AfterSavepoint::kDrain;
  throw_status(Status::invalid("'" + after + "' is nothing that can come after a savepoint"));
  return AfterSavepoint::kGoOn;
}

// A LocalExecutor from its first vertex to its end. The plan is open until start() or a restore
// needs it whole.
class LocalJob {
 public:
  explicit LocalJob(size_t channel_capacity) : channel_capacity_(channel_capacity) {}
  ~LocalJob() {
    without_gil([this] { executor_.reset(); });
  }
  LocalJob(const LocalJob&) = delete;
  LocalJob& operator=(const LocalJob&) = delete;

  int32_t add_vertex(std::string name, int32_t parallelism, int32_t max_parallelism) {
    check_open();
    if (parallelism < 1) throw_status(Status::invalid("the parallelism must be at least 1"));
    plan_.vertices.push_back({std::move(name), parallelism, max_parallelism,
                              std::vector<SubtaskPlan>(static_cast<size_t>(parallelism))});
    return static_cast<int32_t>(plan_.vertices.size()) - 1;
  }
  void add_source(int32_t vertex, int32_t subtask, std::shared_ptr<Source> source, std::string name,
                  std::string uid) {
    SubtaskPlan& plan = subtask_plan(vertex, subtask);
    if (!plan.nodes.empty()) throw_status(Status::invalid("a source is the first of its subtask"));
    plan.source = std::move(source);
    plan.nodes.push_back({nullptr, std::move(name), std::move(uid), -1, std::nullopt});
  }
  void add_operator(int32_t vertex, int32_t subtask, std::shared_ptr<Operator> op, std::string name,
                    std::string uid, int32_t upstream, std::optional<int32_t> side) {
    subtask_plan(vertex, subtask)
        .nodes.push_back({std::move(op), std::move(name), std::move(uid), upstream, side});
  }
  void add_edge(int32_t source_vertex, int32_t source_operator, std::optional<int32_t> side,
                int32_t target_vertex, const std::string& kind,
                std::optional<std::vector<std::string>> key_columns) {
    check_open();
    plan_.edges.push_back({source_vertex, source_operator, side, target_vertex,
                           partitioning_of(kind, std::move(key_columns))});
  }

  void set_state_backend(StateBackendConfigPtr config) {
    check_open();
    plan_.state_backend = std::move(config);
  }

  void set_checkpointing(CheckpointingOptions options) {
    LocalExecutor& job = executor();
    throw_status(without_gil([&] { return job.set_checkpointing(std::move(options)); }));
  }
  py::tuple restore_newest(bool ignore_unclaimed) {
    LocalExecutor& job = executor();
    const LocalExecutor::Restored restored =
        unwrap(without_gil([&] { return job.restore_newest(ignore_unclaimed); }));
    py::list skipped;
    for (const SkippedCheckpoint& one : restored.skipped) {
      skipped.append(py::make_tuple(one.path, one.reason));
    }
    const py::object id = restored.id ? py::cast(restored.id->value) : py::none();
    return py::make_tuple(id, skipped);
  }
  int64_t restore_from(std::string path, const py::object& file_system, bool ignore_unclaimed) {
    LocalExecutor& job = executor();
    const StorageLocation location = storage_location(std::move(path), file_system);
    return unwrap(without_gil([&] { return job.restore_from(location, ignore_unclaimed); })).value;
  }

  void start() {
    LocalExecutor& job = executor();
    throw_status(without_gil([&] { return job.start(); }));
  }
  bool wait(int64_t timeout_ms) {
    LocalExecutor& job = executor();
    return without_gil([&] { return job.wait(std::chrono::milliseconds(timeout_ms)); });
  }
  void cancel() {
    LocalExecutor& job = executor();
    without_gil([&] { job.cancel(); });
  }
  void trigger_checkpoint() { executor().trigger_checkpoint(); }
  std::shared_ptr<Savepoint> trigger_savepoint(std::string directory, const std::string& after,
                                               const py::object& file_system) {
    LocalExecutor& job = executor();
    StorageLocation location = storage_location(std::move(directory), file_system);
    const AfterSavepoint what = after_savepoint(after);
    return without_gil([&] { return job.trigger_savepoint(std::move(location), what); });
  }
  void raise_failure() { throw_status(executor().failure()); }
  // A job whose tasks have all ended comes to its end when somebody looks, also without a wait().
  std::string state() {
    LocalExecutor& job = executor();
    without_gil([&] { job.wait(std::chrono::milliseconds(0)); });
    return to_string(job.state());
  }
  std::vector<int64_t> completed_checkpoints() {
    std::vector<int64_t> ids;
    for (const CheckpointId id : executor().completed_checkpoints()) ids.push_back(id.value);
    return ids;
  }
  py::list metrics() {
    py::list out;
    for (const auto& task : executor().tasks()) append_metrics(task->chain(), &out);
    return out;
  }

 private:
  void check_open() const {
    if (executor_ != nullptr) throw_status(Status::invalid("the job cannot be changed any more"));
  }
  SubtaskPlan& subtask_plan(int32_t vertex, int32_t subtask) {
    check_open();
    if (vertex < 0 || static_cast<size_t>(vertex) >= plan_.vertices.size()) {
      throw_status(Status::invalid("there is no vertex " + std::to_string(vertex)));
    }
    auto& subtasks = plan_.vertices[static_cast<size_t>(vertex)].subtasks;
    if (subtask < 0 || static_cast<size_t>(subtask) >= subtasks.size()) {
      throw_status(Status::invalid("there is no subtask " + std::to_string(subtask)));
    }
    return subtasks[static_cast<size_t>(subtask)];
  }
  LocalExecutor& executor() {
    if (executor_ == nullptr) {
      executor_ = unwrap(LocalExecutor::create(std::exchange(plan_, {}), channel_capacity_));
    }
    return *executor_;
  }

  const size_t channel_capacity_;
  JobPlan plan_;
  std::unique_ptr<LocalExecutor> executor_;
};

void register_savepoint(py::module_& task) {
  py::class_<Savepoint, std::shared_ptr<Savepoint>>(task, "Savepoint", "One that was asked for.")
      .def(
          "wait",
          [](const Savepoint& self, int64_t timeout_ms) {
            return without_gil([&] { return self.wait(std::chrono::milliseconds(timeout_ms)); });
          },
          py::arg("timeout_ms"))
      .def("path", [](const Savepoint& self) {
        if (!self.wait(std::chrono::milliseconds(0))) {
          throw_status(Status::invalid("the savepoint is not done"));
        }
        return unwrap(self.path());
      });
}

void register_local_job(py::module_& task) {
  const auto set_checkpointing = [](LocalJob& self, std::string directory, std::string job_id,
                                    std::string job_name, std::optional<int64_t> interval_ms,
                                    int32_t retained, int64_t timeout_ms, int64_t min_pause_ms,
                                    int32_t tolerable_failures, bool discard_when_finished,
                                    const py::object& file_system, std::string local_directory) {
    CheckpointingOptions options{storage_location(std::move(directory), file_system),
                                 std::move(job_id),
                                 std::move(job_name),
                                 {},
                                 discard_when_finished,
                                 std::move(local_directory)};
    options.coordinator.interval_millis = interval_ms.value_or(kMaxTimestamp);
    options.coordinator.retained = retained;
    options.coordinator.timeout_millis = timeout_ms;
    options.coordinator.min_pause_millis = min_pause_ms;
    options.coordinator.tolerable_failures = tolerable_failures;
    self.set_checkpointing(std::move(options));
  };
  py::class_<LocalJob>(task, "LocalJob", "A job on threads of this process.")
      .def(py::init<size_t>(), py::arg("channel_capacity") = Channel::kDefaultCapacity)
      .def("add_vertex", &LocalJob::add_vertex, py::arg("name"), py::arg("parallelism"),
           py::arg("max_parallelism"))
      .def("add_source", &LocalJob::add_source, py::arg("vertex"), py::arg("subtask"),
           py::arg("source"), py::arg("name"), py::arg("uid"))
      .def("add_operator", &LocalJob::add_operator, py::arg("vertex"), py::arg("subtask"),
           py::arg("operator"), py::arg("name"), py::arg("uid"), py::arg("upstream") = -1,
           py::arg("side") = py::none())
      .def("add_edge", &LocalJob::add_edge, py::arg("source_vertex"), py::arg("source_operator"),
           py::arg("side"), py::arg("target_vertex"), py::arg("kind"),
           py::arg("key_columns") = py::none())
      .def(
          "set_state_backend",
          [](LocalJob& self, std::string kind, std::map<std::string, std::string> options) {
            self.set_state_backend(backend_config(std::move(kind), std::move(options)));
          },
          py::arg("kind"), py::arg("options"))
      .def("set_checkpointing", set_checkpointing, py::arg("directory"), py::arg("job_id"),
           py::arg("job_name"), py::arg("interval_ms"), py::arg("retained"), py::arg("timeout_ms"),
           py::arg("min_pause_ms"), py::arg("tolerable_failures"),
           py::arg("discard_when_finished") = true, py::arg("file_system") = py::none(),
           py::arg("local_directory") = "")
      .def("restore_newest", &LocalJob::restore_newest, py::arg("ignore_unclaimed") = false)
      .def("restore_from", &LocalJob::restore_from, py::arg("path"),
           py::arg("file_system") = py::none(), py::arg("ignore_unclaimed") = false)
      .def("trigger_savepoint", &LocalJob::trigger_savepoint, py::arg("directory"),
           py::arg("after"), py::arg("file_system") = py::none())
      .def("start", &LocalJob::start)
      .def("wait", &LocalJob::wait, py::arg("timeout_ms"))
      .def("cancel", &LocalJob::cancel)
      .def("trigger_checkpoint", &LocalJob::trigger_checkpoint)
      .def("raise_failure", &LocalJob::raise_failure)
      .def("metrics", &LocalJob::metrics)
      .def_property_readonly("state", &LocalJob::state)
      .def_property_readonly("completed_checkpoints", &LocalJob::completed_checkpoints);
}

std::unique_ptr<TaskDriver> make_driver(std::string name, int32_t subtask, int32_t parallelism,
                                        int32_t max_parallelism,
                                        std::vector<int32_t> input_of_channel,
                                        std::optional<int64_t> now_ms) {
  if (parallelism < 1 || parallelism > max_parallelism || subtask < 0 || subtask >= parallelism) {
    throw_status(Status::invalid("subtask " + std::to_string(subtask) + " of " +
                                 std::to_string(parallelism) + ", at most " +
                                 std::to_string(max_parallelism)));
  }
  return std::make_unique<TaskDriver>(
      TaskInfo{0, std::move(name), subtask, parallelism, max_parallelism},
      std::move(input_of_channel), now_ms);
}

void open_driver(TaskDriver& self, const std::optional<py::bytes>& state) {
  std::optional<std::string> copy;
  if (state) copy = std::string(*state);
  throw_status(without_gil(
      [&] { return self.open(copy ? std::optional<std::string_view>(*copy) : std::nullopt); }));
}

void open_rescaled(TaskDriver& self, const std::vector<std::string>& states) {
  throw_status(without_gil([&] {
    return self.open_rescaled(std::vector<std::string_view>(states.begin(), states.end()));
  }));
}

void feed(TaskDriver& self, int32_t channel, const py::tuple& element) {
  Element native = element_from_python(element);
  throw_status(without_gil([&] { return self.feed(channel, std::move(native)); }));
}

py::list take_output(TaskDriver& self) {
  py::list out;
  for (SentElement& sent : self.take_output()) {
    out.append(py::make_tuple(sent.edge, sent.target, element_to_python(std::move(sent.element))));
  }
  return out;
}

py::list take_barriers(TaskDriver& self) {
  py::list out;
  for (const auto& [id, state] : self.take_barriers()) {
    out.append(py::make_tuple(id.value, py::bytes(state)));
  }
  return out;
}

void register_task_driver(py::module_& task) {
  py::class_<TaskDriver>(task, "TaskDriver", "One subtask, fed by hand.")
      .def(py::init(&make_driver), py::arg("name"), py::arg("subtask"), py::arg("parallelism"),
           py::arg("max_parallelism"), py::arg("input_of_channel") = std::vector<int32_t>(),
           py::arg("now_ms") = py::none())
      .def(
          "add_source",
          [](TaskDriver& self, std::shared_ptr<Source> source, std::string name, std::string uid) {
            throw_status(self.add_source(std::move(source), std::move(name), std::move(uid)));
          },
          py::arg("source"), py::arg("name"), py::arg("uid"))
      .def(
          "add_operator",
          [](TaskDriver& self, std::shared_ptr<Operator> op, std::string name, std::string uid,
             int32_t upstream, std::optional<int32_t> side) {
            throw_status(self.add_operator(
                {std::move(op), std::move(name), std::move(uid), upstream, side}));
          },
          py::arg("operator"), py::arg("name"), py::arg("uid"), py::arg("upstream") = -1,
          py::arg("side") = py::none())
      .def(
          "add_edge",
          [](TaskDriver& self, int32_t source_operator, std::optional<int32_t> side,
             const std::string& kind, int32_t num_targets,
             std::optional<std::vector<std::string>> key_columns, int32_t max_parallelism) {
            throw_status(self.add_edge(source_operator, side,
                                       partitioning_of(kind, std::move(key_columns)), num_targets,
                                       max_parallelism));
          },
          py::arg("source_operator"), py::arg("side"), py::arg("kind"), py::arg("num_targets"),
          py::arg("key_columns") = py::none(), py::arg("max_parallelism") = kDefaultMaxParallelism)
      .def(
          "set_state_backend",
          [](TaskDriver& self, std::string kind, std::map<std::string, std::string> options) {
            self.set_state_backend(backend_config(std::move(kind), std::move(options)));
          },
          py::arg("kind"), py::arg("options"))
      .def("open", &open_driver, py::arg("state") = py::none())
      .def("open_rescaled", &open_rescaled, py::arg("states"))
      .def("poll",
           [](TaskDriver& self) { return unwrap(without_gil([&] { return self.poll(); })); })
      .def("feed", &feed, py::arg("channel"), py::arg("element"))
      .def(
          "set_time",
          [](TaskDriver& self, int64_t now_ms) {
            throw_status(without_gil([&] { return self.set_time(now_ms); }));
          },
          py::arg("now_ms"))
      .def("take_output", &take_output)
      .def("take_barriers", &take_barriers)
      .def("snapshot",
           [](TaskDriver& self) {
             return py::bytes(unwrap(without_gil([&] { return self.snapshot(); })));
           })
      .def("close",
           [](TaskDriver& self) { throw_status(without_gil([&] { return self.close(); })); })
      .def_property_readonly("ended", &TaskDriver::ended)
      .def("metrics", [](TaskDriver& self) {
        py::list out;
        if (self.chain() != nullptr) append_metrics(*self.chain(), &out);
        return out;
      });
}

}  // namespace

void register_task(py::module_& module) {
  py::module_ task = module.def_submodule("task", "Tasks and jobs.");
  register_savepoint(task);
  register_local_job(task);
  register_task_driver(task);
}

}  // namespace penstock::bindings
