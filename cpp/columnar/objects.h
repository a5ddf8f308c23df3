// Rows of foreign (Python) objects, carried by the core without knowing what they are.
//
// The core holds objects as opaque pointers and counts references through one table of functions
// that `bindings/` installs when the module loads (tests install their own). No room but bindings/
// includes Python.
//
// Thread safety: an ObjectColumn is immutable and may be shared and destroyed on any thread:
// `release_many` takes whatever lock the objects' owner needs (Python: the GIL), once per column
// and not once per object. Everything else that touches an object happens in bindings/, with that
// lock held.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace penstock {

using ObjectPtr = void*;

struct ObjectOps {
  void (*retain_many)(ObjectPtr const* objects, int64_t count) = nullptr;
  void (*release_many)(ObjectPtr const* objects, int64_t count) = nullptr;
};

// Set once, before the first object enters the core.
void install_object_ops(ObjectOps ops);
const ObjectOps& object_ops();

// Owns one reference to each of its objects.
class ObjectVector {
 public:
  // Takes over one reference to each object.
  static std::shared_ptr<const ObjectVector> adopt(std::vector<ObjectPtr> objects) {
    return std::shared_ptr<const ObjectVector>(new ObjectVector(std::move(objects)));
  }
  ~ObjectVector();
  ObjectVector(const ObjectVector&) = delete;
  ObjectVector& operator=(const ObjectVector&) = delete;
  [[nodiscard]] const std::vector<ObjectPtr>& objects() const { return objects_; }

 private:
  explicit ObjectVector(std::vector<ObjectPtr> objects) : objects_(std::move(objects)) {}
  std::vector<ObjectPtr> objects_;
};

// A view on an ObjectVector: what a batch in row form holds.
struct ObjectColumn {
  std::shared_ptr<const ObjectVector> owner;
  int64_t offset = 0;
  int64_t length = 0;

  [[nodiscard]] explicit operator bool() const { return owner != nullptr; }
  // Borrowed.
  [[nodiscard]] ObjectPtr at(int64_t i) const {
    return owner->objects()[static_cast<size_t>(offset + i)];
  }
  [[nodiscard]] ObjectColumn slice(int64_t from, int64_t count) const {
    return {owner, offset + from, count};
  }
  // Copies references (retain_many).
  [[nodiscard]] ObjectColumn take(const int32_t* indices, int64_t count) const;
};

}  // namespace penstock
