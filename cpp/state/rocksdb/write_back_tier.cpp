#include "state/rocksdb/write_back_tier.h"

namespace penstock {

size_t WriteBackTier::used_bytes() const {
  size_t bytes = young_bytes_;
  for (const TierMember* member : members_) bytes += member->frozen_bytes();
  return bytes;
}

Result<uint64_t> WriteBackTier::freeze() {
  PENSTOCK_RETURN_NOT_OK(store_->queue()->failure());
  std::vector<WriteQueue::Job> jobs;
  std::vector<TierMember*> dirty;
  ++age_;
  for (TierMember* member : members_) {
    if (WriteQueue::Job job = member->freeze(age_)) {
      jobs.push_back(std::move(job));
      dirty.push_back(member);
    }
  }
  young_bytes_ = 0;
  if (jobs.empty()) return last_job_;
  last_job_ = store_->queue()->push([jobs = std::move(jobs)] {
    for (const WriteQueue::Job& job : jobs) PENSTOCK_RETURN_NOT_OK(job());
    return Status::ok();
  });
  for (TierMember* member : dirty) member->set_job(last_job_);
  return last_job_;
}

Status WriteBackTier::flush() {
  PENSTOCK_ASSIGN_OR_RETURN(const uint64_t job, freeze());
  return store_->queue()->finish(job);
}

Status WriteBackTier::rotate() {
  PENSTOCK_RETURN_NOT_OK(freeze().status());
  size_t frozen = used_bytes();
  // The newest layer stays whatever its size: what was just read may be in it.
  while (frozen * 2 > budget_) {
    TierMember* const member = oldest();
    if (member == nullptr || *member->oldest_age() >= age_) return Status::ok();
    frozen -= member->frozen_bytes();
    PENSTOCK_RETURN_NOT_OK(member->drop_oldest());
    frozen += member->frozen_bytes();
  }
  return Status::ok();
}

TierMember* WriteBackTier::oldest() const {
  TierMember* found = nullptr;
  for (TierMember* member : members_) {
    const std::optional<uint64_t> age = member->oldest_age();
    if (age && (found == nullptr || *age < *found->oldest_age())) found = member;
  }
  return found;
}

}  // namespace penstock
