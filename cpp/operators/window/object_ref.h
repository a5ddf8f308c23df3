// ObjectRef: one owned reference to a foreign object. Move-only, so that none is lost or dropped
// twice.
#pragma once

#include <utility>

#include "columnar/objects.h"

namespace penstock::window {

class ObjectRef {
 public:
  ObjectRef() = default;
  // Takes over one reference.
  static ObjectRef adopt(ObjectPtr object) { return ObjectRef(object); }
  // Adds one.
  static ObjectRef share(ObjectPtr object) {
    if (object != nullptr && object_ops().retain_many != nullptr)
      object_ops().retain_many(&object, 1);
    return ObjectRef(object);
  }
  ~ObjectRef() { reset(); }
  ObjectRef(ObjectRef&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  ObjectRef& operator=(ObjectRef&& other) noexcept {
    if (this != &other) {
      reset();
      object_ = std::exchange(other.object_, nullptr);
    }
    return *this;
  }
  ObjectRef(const ObjectRef&) = delete;
  ObjectRef& operator=(const ObjectRef&) = delete;

  // Borrowed; nullptr when empty.
  [[nodiscard]] ObjectPtr get() const { return object_; }
  [[nodiscard]] explicit operator bool() const { return object_ != nullptr; }
  void reset() {
    if (object_ != nullptr && object_ops().release_many != nullptr)
      object_ops().release_many(&object_, 1);
    object_ = nullptr;
  }

 private:
  explicit ObjectRef(ObjectPtr object) : object_(object) {}
  ObjectPtr object_ = nullptr;
};

}  // namespace penstock::window
