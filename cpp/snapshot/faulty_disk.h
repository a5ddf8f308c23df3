// FaultyDisk: a file system in memory that behaves as badly as a real one may. For tests.
//
// What has not been synced is lost in a crash, or not: data by file, names (created, renamed,
// removed) by directory. An operation can be made to fail once (EIO, ENOSPC: an append gets half of
// its bytes written), or to be the process's last: it happens by half or not at all, and nothing
// works until crash().
//
// Thread safety: none.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "snapshot/file_io.h"

namespace penstock {

class FaultyDisk : public FileSystem {
 public:
  enum class Fault { kNone, kDie, kEio, kEnospc };
  enum class Unsynced { kLost, kKept, kRandom };

  // Operation number `at`, counted from now on, goes wrong.
  void inject(Fault fault, int at) {
    fault_ = fault;
    left_ = at;
    fired_ = false;
  }
  // Whether what was injected has happened.
  [[nodiscard]] bool fired() const { return fired_; }
  [[nodiscard]] bool dead() const { return dead_; }
  // False: an object store. Files appear when they are closed; everything is durable at once.
  void set_local(bool local) { local_ = local; }

  // The machine stops and starts again: what is on the disk now?
  void crash(Unsynced unsynced, uint32_t seed) {
    std::mt19937 random(seed);
    const auto keep = [&] {
      return unsynced == Unsynced::kKept || (unsynced == Unsynced::kRandom && random() % 2 == 0);
    };
    if (local_) settle(root_.get(), keep);
    dead_ = false;
    fault_ = Fault::kNone;
  }

  [[nodiscard]] bool is_local() const override { return local_; }

  Result<std::unique_ptr<WritableFile>> create(const std::string& path) override {
    PENSTOCK_RETURN_NOT_OK(step("create", path, [&] {
      // An object store has no directories that someone has to make.
      if (!local_) make_directories(parent_path(path));
      return Status::ok();
    }));
    Node* parent = find(parent_path(path));
    if (parent == nullptr) return failed("create", path, "No such file or directory");
    auto node = std::make_shared<Node>();
    node->is_file = true;
    if (local_) parent->entries[name_of(path)] = node;
    return std::unique_ptr<WritableFile>(std::make_unique<File>(this, path, node));
  }
  Result<std::optional<std::string>> read(const std::string& path) override {
    if (dead_) return died();
    Node* node = find(path);
    if (node == nullptr || !node->is_file) return std::optional<std::string>();
    return std::optional<std::string>(node->bytes);
  }
  Status rename(const std::string& from, const std::string& to) override {
    return step("rename", from, [&]() -> Status {
      Node* old_parent = find(parent_path(from));
      Node* new_parent = find(parent_path(to));
      if (old_parent == nullptr || new_parent == nullptr || find(from) == nullptr) {
        return failed("rename", from, "No such file or directory");
      }
      Node* target = find(to);
      if (target != nullptr && !target->entries.empty()) {
        return failed("rename", from, "Directory not empty");
      }
      auto moved = old_parent->entries.extract(name_of(from));
      new_parent->entries[name_of(to)] = std::move(moved.mapped());
      return Status::ok();
    });
  }
  Status sync_directory(const std::string& path) override {
    return step("sync", path, [&]() -> Status {
      Node* node = find(path);
      if (node == nullptr) return failed("sync", path, "No such file or directory");
      node->synced_entries = node->entries;
      return Status::ok();
    });
  }
  Status create_directories(const std::string& path) override {
    return step("create", path, [&] {
      make_directories(path);
      return Status::ok();
    });
  }
  Status remove_all(const std::string& path) override {
    Node* node = find(path);
    // A file at a time, as it is really done.
    if (node != nullptr && !node->is_file) {
      std::vector<std::string> names;
      for (const auto& [name, child] : node->entries) names.push_back(name);
      for (const std::string& name : names) {
        PENSTOCK_RETURN_NOT_OK(remove_all(path + "/" + name));
      }
    }
    return step("remove", path, [&] {
      Node* parent = find(parent_path(path));
      if (parent != nullptr) parent->entries.erase(name_of(path));
      return Status::ok();
    });
  }
  Result<std::vector<std::string>> list(const std::string& path) override {
    if (dead_) return died();
    std::vector<std::string> names;
    Node* node = find(path);
    if (node == nullptr) return names;
    for (const auto& [name, child] : node->entries) {
      if (local_ || child->is_file || !child->entries.empty()) names.push_back(name);
    }
    return names;
  }
  Result<bool> exists(const std::string& path) override {
    if (dead_) return died();
    return find(path) != nullptr;
  }

 private:
  struct Node {
    bool is_file = false;
    std::string bytes;
    std::string synced_bytes;
    std::map<std::string, std::shared_ptr<Node>> entries;
    std::map<std::string, std::shared_ptr<Node>> synced_entries;
  };

  class File final : public WritableFile {
   public:
    File(FaultyDisk* disk, std::string path, std::shared_ptr<Node> node)
        : disk_(disk), path_(std::move(path)), node_(std::move(node)) {}
    Status append(std::string_view bytes) override {
      return disk_->step(
          "write", path_,
          [&] {
            node_->bytes += bytes;
            return Status::ok();
          },
          [&] { node_->bytes += bytes.substr(0, bytes.size() / 2); });
    }
    Status sync() override {
      return disk_->step("sync", path_, [&] {
        node_->synced_bytes = node_->bytes;
        return Status::ok();
      });
    }
    Status close() override {
      if (disk_->local_) return disk_->dead_ ? disk_->died() : Status::ok();
      return disk_->step("close", path_, [&] {
        disk_->make_directories(parent_path(path_));
        disk_->find(parent_path(path_))->entries[name_of(path_)] = node_;
        return Status::ok();
      });
    }

   private:
    FaultyDisk* const disk_;
    const std::string path_;
    const std::shared_ptr<Node> node_;
  };

  static std::string name_of(const std::string& path) {
    return path.substr(path.find_last_of('/') + 1);
  }
  Node* find(const std::string& path) {
    Node* node = root_.get();
    for (size_t at = 1; at < path.size();) {
      const size_t end = std::min(path.find('/', at), path.size());
      const auto child = node->entries.find(path.substr(at, end - at));
      if (child == node->entries.end()) return nullptr;
      node = child->second.get();
      at = end + 1;
    }
    return node;
  }
  // With durable names, as create_directories() promises.
  void make_directories(const std::string& path) {
    if (path == "/" || find(path) != nullptr) return;
    make_directories(parent_path(path));
    Node* parent = find(parent_path(path));
    auto node = std::make_shared<Node>();
    parent->entries[name_of(path)] = node;
    parent->synced_entries[name_of(path)] = std::move(node);
  }

  template <typename Keep>
  static void settle(Node* node, const Keep& keep) {
    if (!keep()) node->bytes = node->synced_bytes;
    node->synced_bytes = node->bytes;
    std::set<std::string> names;
    for (const auto& [name, child] : node->entries) names.insert(name);
    for (const auto& [name, child] : node->synced_entries) names.insert(name);
    for (const std::string& name : names) {
      const auto& truth = keep() ? node->entries : node->synced_entries;
      const auto found = truth.find(name);
      const std::shared_ptr<Node> child = found == truth.end() ? nullptr : found->second;
      node->entries.erase(name);
      if (child != nullptr) node->entries.emplace(name, child);
    }
    // A renamed directory may now have two names; a real one keeps one of them.
    std::set<Node*> seen;
    std::erase_if(node->entries,
                  [&](const auto& entry) { return !seen.insert(entry.second.get()).second; });
    node->synced_entries = node->entries;
    for (const auto& [name, child] : node->entries) settle(child.get(), keep);
  }

  Status step(const char* what, const std::string& path, const std::function<Status()>& action,
              const std::function<void()>& half = {}) {
    if (dead_) return died();
    if (fault_ == Fault::kNone || left_-- > 0) return action();
    const Fault fault = std::exchange(fault_, Fault::kNone);
    fired_ = true;
    if (half) half();
    dead_ = fault == Fault::kDie;
    if (dead_) return died();
    return failed(what, path,
                  fault == Fault::kEio ? "Input/output error" : "No space left on device");
  }
  static Status failed(const std::string& what, const std::string& path, const std::string& why) {
    return Status::io_error("cannot " + what + " '" + path + "': " + why);
  }
  static Status died() { return Status::io_error("the process has died"); }

  const std::shared_ptr<Node> root_ = std::make_shared<Node>();
  bool local_ = true;
  Fault fault_ = Fault::kNone;
  int left_ = 0;
  bool fired_ = false;
  bool dead_ = false;
};

}  // namespace penstock
