// For this room's tests: a small job's state, a directory that goes away, a disk that fails.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "snapshot/checkpoint_storage.h"

namespace penstock {

// In memory where that is possible: thousands of syncs take minutes on a busy disk.
inline std::filesystem::path directory_for_tests() {
  const char* const memory = "/dev/shm";
  return ::access(memory, W_OK) == 0 ? memory : std::filesystem::temp_directory_path();
}

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = (directory_for_tests() / "penstock-XXXXXX").string();
    EXPECT_NE(mkdtemp(pattern.data()), nullptr);
    path_ = pattern;
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Two operators with keyed, list and union-list state; `mark` tells states apart. The key group of
// each entry lies in the range of the subtask of 2 with max parallelism 8.
inline TaskState sample_task(int32_t subtask, const std::string& mark) {
  TaskState task;
  task.task = {"v/1", subtask};
  task.parallelism = 2;
  task.max_parallelism = 8;
  OperatorEntry window{"window-uid", {}};
  KeyedStateData contents;
  contents.meta = {"contents", StateKind::kWindowContents, "encoded", "window_end:int64",
                   "count:int64"};
  contents.add(4 * subtask, "key", "end", mark);
  contents.add(4 * subtask + 2, std::string("\0k", 2), "", "");
  window.state.keyed.push_back(contents);
  OperatorEntry source{"source-uid", {}};
  source.state.lists.push_back(
      {{"splits", StateKind::kOperatorList, "", "", "json"}, {mark, "", "item"}});
  source.state.lists.push_back(
      {{"known", StateKind::kOperatorUnionList, "", "", "pickle"}, {mark}});
  task.operators = {std::move(source), std::move(window)};
  return task;
}

inline CheckpointMetadata sample_metadata(const std::string& job_id, CheckpointId id) {
  CheckpointMetadata metadata;
  metadata.job_id = job_id;
  metadata.job_name = "a \"sample\"";
  metadata.checkpoint_id = id;
  metadata.trigger_millis = 1700000000000 + id.value;
  metadata.operators = {{"source-uid", "Source", 2, 8}, {"window-uid", "Window", 2, 8}};
  return metadata;
}

// The whole protocol, as a job runs it. `mark` is by default the checkpoint's id.
inline Status write_sample(FileSystem* files, const std::string& directory,
                           const std::string& job_id, CheckpointId id) {
  PENSTOCK_ASSIGN_OR_RETURN(const CheckpointStorage storage,
                            CheckpointStorage::open(directory, job_id, files));
  PENSTOCK_ASSIGN_OR_RETURN(PendingCheckpoint pending, storage.begin(id));
  CheckpointMetadata metadata = sample_metadata(job_id, id);
  for (int32_t subtask : {0, 1}) {
    PENSTOCK_ASSIGN_OR_RETURN(const TaskFile file,
                              pending.write_task(sample_task(subtask, std::to_string(id.value))));
    metadata.tasks.push_back(file);
  }
  return pending.complete(metadata);
}

// What write_sample put into the union list, of all subtasks.
inline std::string mark_of(const LoadedCheckpoint& checkpoint) {
  std::string mark;
  for (const OperatorState& state : checkpoint.states_of("source-uid")) {
    const ListStateData* list = state.find_list("known");
    mark += list == nullptr ? "?" : list->items.at(0);
  }
  return mark;
}

// The local files of a process that dies: after `operations` steps nothing works any more, cleaning
// up included. The step that dies is done by half: a file gets half of its bytes, a rename happens
// or not (`last_step_happens`).
class DyingFileSystem final : public FileSystem {
 public:
  DyingFileSystem(int operations, bool last_step_happens)
      : left_(operations), last_step_happens_(last_step_happens) {}
  [[nodiscard]] bool died() const { return left_ < 0; }

  Result<std::unique_ptr<WritableFile>> create(const std::string& path) override {
    if (step() != Step::kWhole) return dead();
    PENSTOCK_ASSIGN_OR_RETURN(std::unique_ptr<WritableFile> file, files_->create(path));
    return std::unique_ptr<WritableFile>(std::make_unique<DyingFile>(this, std::move(file)));
  }
  Result<std::optional<std::string>> read(const std::string& path) override {
    return files_->read(path);
  }
  Status rename(const std::string& from, const std::string& to) override {
    const Step now = step();
    if (now == Step::kWhole || (now == Step::kHalf && last_step_happens_)) {
      PENSTOCK_RETURN_NOT_OK(files_->rename(from, to));
    }
    return now == Step::kWhole ? Status::ok() : dead();
  }
  Status sync_directory(const std::string& path) override {
    return step() == Step::kWhole ? files_->sync_directory(path) : dead();
  }
  Status create_directories(const std::string& path) override {
    return step() == Step::kWhole ? files_->create_directories(path) : dead();
  }
  Status remove_all(const std::string& path) override {
    return step() == Step::kWhole ? files_->remove_all(path) : dead();
  }
  Result<std::vector<std::string>> list(const std::string& path) override {
    return files_->list(path);
  }
  Result<bool> exists(const std::string& path) override { return files_->exists(path); }

 private:
  enum class Step { kWhole, kHalf, kNothing };

  class DyingFile final : public WritableFile {
   public:
    DyingFile(DyingFileSystem* owner, std::unique_ptr<WritableFile> file)
        : owner_(owner), file_(std::move(file)) {}
    Status append(std::string_view bytes) override {
      const Step now = owner_->step();
      if (now == Step::kWhole) return file_->append(bytes);
      if (now == Step::kHalf) (void)file_->append(bytes.substr(0, bytes.size() / 2)).is_ok();
      return owner_->dead();
    }
    Status sync() override {
      return owner_->step() == Step::kWhole ? file_->sync() : owner_->dead();
    }
    Status close() override { return file_->close(); }

   private:
    DyingFileSystem* owner_;
    std::unique_ptr<WritableFile> file_;
  };

  Step step() {
    if (left_ < 0) return Step::kNothing;
    return left_-- > 0 ? Step::kWhole : Step::kHalf;
  }
  [[nodiscard]] Status dead() const { return Status::io_error("the process has died"); }

  FileSystem* files_ = local_file_system();
  int left_;
  bool last_step_happens_;
};

}  // namespace penstock
