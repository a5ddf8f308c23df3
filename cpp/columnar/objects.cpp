#include "columnar/objects.h"

namespace penstock {

namespace {

ObjectOps& installed_ops() {
  static ObjectOps ops;
  return ops;
}

}  // namespace

void install_object_ops(ObjectOps ops) { installed_ops() = ops; }

const ObjectOps& object_ops() { return installed_ops(); }

ObjectVector::~ObjectVector() {
  if (!objects_.empty() && object_ops().release_many != nullptr) {
    object_ops().release_many(objects_.data(), static_cast<int64_t>(objects_.size()));
  }
}

ObjectColumn ObjectColumn::take(const int32_t* indices, int64_t count) const {
  std::vector<ObjectPtr> taken(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) taken[static_cast<size_t>(i)] = at(indices[i]);
  if (count > 0 && object_ops().retain_many != nullptr) {
    object_ops().retain_many(taken.data(), count);
  }
  return {ObjectVector::adopt(std::move(taken)), 0, count};
}

}  // namespace penstock
