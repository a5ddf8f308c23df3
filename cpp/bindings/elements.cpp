#include "bindings/elements.h"

#include <string>
#include <type_traits>
#include <utility>

#include "bindings/errors.h"

namespace py = pybind11;

namespace penstock::bindings {

Element element_from_python(const py::tuple& tuple) {
  const std::string kind = tuple.empty() ? "" : tuple[0].cast<std::string>();
  const size_t size = tuple.size();
  if (kind == "batch" && size == 2) return tuple[1].cast<Batch>();
  if (kind == "watermark" && size == 2) return Watermark{tuple[1].cast<int64_t>()};
  if (kind == "status" && size == 2) return WatermarkStatus{tuple[1].cast<bool>()};
  if (kind == "barrier" && size == 2) return Barrier{CheckpointId{tuple[1].cast<int64_t>()}, 0};
  if (kind == "end" && size == 1) return EndOfInput{};
  raise(Status::invalid("no stream element: " + std::string(py::str(tuple))));
}

py::tuple element_to_python(Element element) {
  return std::visit(
      [](auto& what) -> py::tuple {
        using Kind = std::decay_t<decltype(what)>;
        if constexpr (std::is_same_v<Kind, Batch>) {
          return py::make_tuple("batch", std::move(what));
        } else if constexpr (std::is_same_v<Kind, Watermark>) {
          return py::make_tuple("watermark", what.timestamp);
        } else if constexpr (std::is_same_v<Kind, WatermarkStatus>) {
          return py::make_tuple("status", what.idle);
        } else if constexpr (std::is_same_v<Kind, Barrier>) {
          return py::make_tuple("barrier", what.id.value);
        } else {
          return py::make_tuple("end");
        }
      },
      element);
}

}  // namespace penstock::bindings
