#include "bindings/python_file_system.h"

#include <algorithm>
#include <utility>

#include "bindings/errors.h"
#include "bindings/gil.h"

namespace py = pybind11;

namespace penstock::bindings {

namespace {

// A Python object that any thread may let go of.
std::shared_ptr<PyObject> share(py::object object) {
  return {object.release().ptr(), [](PyObject* pointer) {
            if (interpreter_is_gone()) return;
            const GilScope gil;
            Py_DECREF(pointer);
          }};
}

// Runs `action`, which returns a Status or Result, with the GIL.
template <typename Action>
auto with_gil(const char* what, const std::string& path, const Action& action)
    -> decltype(action()) {
  if (interpreter_is_gone()) return Status::io_error("the interpreter has ended");
  const GilScope gil;
  try {
    return action();
  } catch (py::error_already_set& error) {
    const Status status = status_from_python_error(error, "");
    return Status::io_error(std::string("cannot ") + what + " '" + path + "': " + status.message());
  }
}

class PythonFile final : public WritableFile {
 public:
  PythonFile(py::object object, std::string path)
      : object_(share(std::move(object))), path_(std::move(path)) {}

  Status append(std::string_view bytes) override {
    return with_gil("write", path_, [&] {
      py::handle(object_.get()).attr("write")(py::bytes(bytes.data(), bytes.size()));
      return Status::ok();
    });
  }
  // An object is durable when it is closed.
  Status sync() override { return Status::ok(); }
  Status close() override {
    return with_gil("close", path_, [&] {
      py::handle(object_.get()).attr("close")();
      return Status::ok();
    });
  }

 private:
  const std::shared_ptr<PyObject> object_;
  const std::string path_;
};

class PythonFileSystem final : public FileSystem {
 public:
  explicit PythonFileSystem(py::object object) : object_(share(std::move(object))) {}

  [[nodiscard]] bool is_local() const override { return false; }

  Result<std::unique_ptr<WritableFile>> create(const std::string& path) override {
    return with_gil("create", path, [&]() -> Result<std::unique_ptr<WritableFile>> {
      return std::unique_ptr<WritableFile>(
          std::make_unique<PythonFile>(self().attr("create")(path), path));
    });
  }
  Result<std::optional<std::string>> read(const std::string& path) override {
    return with_gil("read", path, [&]() -> Result<std::optional<std::string>> {
      const py::object bytes = self().attr("read")(path);
      if (bytes.is_none()) return std::optional<std::string>();
      return std::optional<std::string>(bytes.cast<std::string>());
    });
  }
  Status rename(const std::string& from, const std::string& /*to*/) override {
    return Status::not_supported("'" + from + "' cannot be renamed where it is");
  }
  Status sync_directory(const std::string& /*path*/) override { return Status::ok(); }
  Status create_directories(const std::string& /*path*/) override { return Status::ok(); }
  Status remove_all(const std::string& path) override {
    return with_gil("remove", path, [&] {
      self().attr("remove_all")(path);
      return Status::ok();
    });
  }
  Result<std::vector<std::string>> list(const std::string& path) override {
    return with_gil("list", path, [&]() -> Result<std::vector<std::string>> {
      std::vector<std::string> names;
      for (const py::handle name : self().attr("list")(path)) {
        names.push_back(name.cast<std::string>());
      }
      std::sort(names.begin(), names.end());
      return names;
    });
  }
  Result<bool> exists(const std::string& path) override {
    return with_gil("look at", path,
                    [&]() -> Result<bool> { return self().attr("exists")(path).cast<bool>(); });
  }

 private:
  [[nodiscard]] py::handle self() const { return object_.get(); }
  const std::shared_ptr<PyObject> object_;
};

}  // namespace

std::shared_ptr<FileSystem> make_python_file_system(py::object object) {
  return std::make_shared<PythonFileSystem>(std::move(object));
}

StorageLocation storage_location(std::string path, const py::object& file_system) {
  if (file_system.is_none()) return {std::move(path), nullptr};
  return {std::move(path), make_python_file_system(file_system)};
}

}  // namespace penstock::bindings
