// WriteBackTier: what the tables of one backend hold in memory in front of the database, and when it
// goes down.
//
// Every table has layers: one that changes (young) and some that no longer do (frozen). Together
// the young ones may take half of the budget; then all are frozen, and a job for the write queue
// writes what is dirty in them, sorted, while work goes on with new young layers. Frozen layers stay
// as a cache until the other half of the budget is exceeded: the oldest go, once they are written.
// What is read again from a frozen layer moves to the young one, so what is used stays.
//
// Freezing takes no time that grows with what is held. A snapshot is that, and a job behind it in
// the queue: when that job runs the database holds exactly what there was at the barrier.
//
// Thread safety: none; belongs to the subtask's thread. Jobs read frozen layers from the queue's.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "common/status.h"
#include "state/rocksdb/rocks_store.h"
#include "state/rocksdb/write_queue.h"

namespace penstock {

// A table's side of the tier.
class TierMember {
 public:
  virtual ~TierMember() = default;
  // Freezes the young layer, if there is anything in it; `age` grows from freeze to freeze. The job
  // that writes it; null: nothing is dirty.
  virtual WriteQueue::Job freeze(uint64_t age) = 0;
  // The number of the job that writes what the last freeze() froze.
  virtual void set_job(uint64_t number) = 0;
  [[nodiscard]] virtual size_t frozen_bytes() const = 0;
  // The age of the oldest frozen layer; nullopt: there is none.
  [[nodiscard]] virtual std::optional<uint64_t> oldest_age() const = 0;
  // Drops that layer, when it has been written. REQUIRES: there is one.
  virtual Status drop_oldest() = 0;
};

class WriteBackTier {
 public:
  WriteBackTier(RocksStore* store, size_t budget) : store_(store), budget_(budget) {}

  [[nodiscard]] RocksStore* store() const { return store_; }
  void add_member(TierMember* member) { members_.push_back(member); }
  // `young_bytes`: what of grew() was the member's.
  void remove_member(TierMember* member, size_t young_bytes) {
    std::erase(members_, member);
    young_bytes_ -= young_bytes;
  }
  [[nodiscard]] size_t budget() const { return budget_; }
  [[nodiscard]] size_t used_bytes() const;

  // A young layer has grown. Waits for the disk only if it is slower than the changes.
  Status grew(size_t bytes) {
    young_bytes_ += bytes;
    return young_bytes_ * 2 > budget_ ? rotate() : Status::ok();
  }
  // Freezes everything. When the job of this number is done, and no later one, the database holds
  // what the tables hold now.
  Result<uint64_t> freeze();
  // Freezes and waits.
  Status flush();

 private:
  Status rotate();
  // The member whose oldest frozen layer is the oldest of all; nullptr: there are none.
  [[nodiscard]] TierMember* oldest() const;

  RocksStore* store_;
  size_t budget_;
  size_t young_bytes_ = 0;
  std::vector<TierMember*> members_;
  uint64_t last_job_ = 0;
  uint64_t age_ = 0;  // of the newest frozen layers
};

// The layers of one table. Layer: a default constructible kind of layer with
//   size_t size() const;                                entries
//   size_t used_bytes() const;
//   bool is_dirty() const;
//   static Status write(const Layer&, RocksStore*, RocksFamily*);
//   void absorb(const Layer& newer);                    takes over, as clean, what `newer` has
//   void reserve(size_t size);                          so many entries are likely
template <typename Layer>
class Layers final : public TierMember {
 public:
  Layers(WriteBackTier* tier, RocksFamily* family)
      : tier_(tier), family_(family), young_(std::make_unique<Layer>()) {
    tier_->add_member(this);
  }
  ~Layers() override { tier_->remove_member(this, noted_bytes_); }
  Layers(const Layers&) = delete;
  Layers& operator=(const Layers&) = delete;

  [[nodiscard]] Layer& young() { return *young_; }
  // Another number means another young layer.
  [[nodiscard]] uint64_t epoch() const { return epoch_; }
  [[nodiscard]] RocksStore* store() const { return tier_->store(); }
  [[nodiscard]] RocksFamily* family() const { return family_; }
  [[nodiscard]] WriteBackTier* tier() const { return tier_; }

  // Frozen layers, the newest first.
  [[nodiscard]] size_t frozen() const { return frozen_.size(); }
  [[nodiscard]] const Layer& frozen(size_t i) const { return *frozen_[i].layer; }
  // The database has what is in it.
  [[nodiscard]] bool is_written(size_t i) const { return queue()->is_done(frozen_[i].job); }
  Status finish(size_t i) { return queue()->finish(frozen_[i].job); }

  // To be called after the young layer has changed.
  Status changed() {
    const size_t bytes = young_->used_bytes();
    const size_t more = bytes - std::exchange(noted_bytes_, bytes);
    return tier_->grew(more);
  }
  [[nodiscard]] Status failure() const { return queue()->failure(); }

  WriteQueue::Job freeze(uint64_t age) override {
    if (young_->size() == 0) return nullptr;
    take_merged();
    merge_oldest();
    const size_t size = young_->size();
    std::shared_ptr<Layer> layer = std::move(young_);
    young_ = std::make_unique<Layer>();
    young_->reserve(std::min(size, kReserved));
    noted_bytes_ = 0;
    ++epoch_;
    frozen_.insert(frozen_.begin(), Frozen{layer, age, 0});
    if (!layer->is_dirty()) return nullptr;
    return [layer, store = tier_->store(), family = family_] {
      return Layer::write(*layer, store, family);
    };
  }
  void set_job(uint64_t number) override { frozen_.front().job = number; }
  [[nodiscard]] size_t frozen_bytes() const override {
    size_t bytes = 0;
    for (const Frozen& one : frozen_) bytes += one.layer->used_bytes();
    return bytes;
  }
  [[nodiscard]] std::optional<uint64_t> oldest_age() const override {
    return frozen_.empty() ? std::nullopt : std::optional(frozen_.back().age);
  }
  Status drop_oldest() override {
    PENSTOCK_RETURN_NOT_OK(finish(frozen_.size() - 1));
    frozen_.pop_back();
    return Status::ok();
  }

 private:
  static constexpr size_t kMostLayers = 4;
  // Room for more is made as it is needed: a barrier must not wait for memory to be zeroed.
  static constexpr size_t kReserved = size_t{1} << 15;
  struct Frozen {
    std::shared_ptr<Layer> layer;
    uint64_t age;
    uint64_t job;  // that writes it; 0: nothing to write
  };

  [[nodiscard]] WriteQueue* queue() const { return tier_->store()->queue(); }

  // Many barriers in little time leave many small layers, and each costs every miss a lookup. So the
  // two oldest become one, made by the queue's thread once it is through with them.
  struct Merge {
    std::shared_ptr<const Layer> older;
    std::shared_ptr<const Layer> newer;
    std::shared_ptr<Layer> merged;
    uint64_t job = 0;
  };

  void merge_oldest() {
    const size_t size = frozen_.size();
    if (merge_ != nullptr || size < kMostLayers) return;
    if (!is_written(size - 2) || !is_written(size - 1)) return;
    merge_ = std::make_shared<Merge>();
    merge_->older = frozen_[size - 1].layer;
    merge_->newer = frozen_[size - 2].layer;
    merge_->job = queue()->push([merge = merge_] {
      merge->merged = std::make_shared<Layer>();
      merge->merged->reserve(merge->older->size() + merge->newer->size());
      merge->merged->absorb(*merge->older);
      merge->merged->absorb(*merge->newer);
      return Status::ok();
    });
  }
  void take_merged() {
    if (merge_ == nullptr || !queue()->is_done(merge_->job)) return;
    const size_t size = frozen_.size();
    // They may have been dropped meanwhile.
    if (size >= 2 && frozen_[size - 1].layer == merge_->older) {
      frozen_[size - 2] = Frozen{merge_->merged, frozen_[size - 2].age, 0};
      frozen_.pop_back();
    }
    // Giving memory back takes time too.
    queue()->push([merge = std::move(merge_)] { return Status::ok(); });
  }

  WriteBackTier* tier_;
  RocksFamily* family_;
  std::unique_ptr<Layer> young_;
  uint64_t epoch_ = 0;
  size_t noted_bytes_ = 0;
  std::shared_ptr<Merge> merge_;  // under way
  std::vector<Frozen> frozen_;
};

}  // namespace penstock
