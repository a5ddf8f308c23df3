// Where the checkpoints of one job live: `<dir>/<job-id>/chk-<n>/`, with `_metadata` and one state
// file per task, and `<dir>/<job-id>/shared/` with the files that several of them use.
//
// pending_checkpoint.h writes one, checkpoint_reader.h reads one; this lists, finds and removes them.
// docs/snapshot-format.md has the details.
//
// Thread safety: begin() and discard() may be called from any thread, all else from one at a time.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "common/ids.h"
#include "common/status.h"
#include "snapshot/checkpoint_metadata.h"
#include "snapshot/checkpoint_reader.h"
#include "snapshot/file_io.h"
#include "snapshot/pending_checkpoint.h"
#include "snapshot/shared_state_registry.h"

namespace penstock {

// One that was passed over, and why: for a warning.
struct SkippedCheckpoint {
  std::string path;
  std::string reason;
};

class CheckpointStorage {
 public:
  struct Listing {
    std::vector<CheckpointMetadata> completed;  // oldest first
    std::vector<SkippedCheckpoint> skipped;
    bool has_damaged = false;  // or of a newer format: one that was complete and cannot be read
  };
  struct Newest {
    std::optional<LoadedCheckpoint> checkpoint;  // nothing: there is no complete one
    std::vector<SkippedCheckpoint> skipped;
  };

  // kInvalidArgument when `job_id` cannot be a directory's name. `files` outlives the storage.
  static Result<CheckpointStorage> open(std::string directory, std::string job_id,
                                        FileSystem* files = local_file_system());

  // A new checkpoint, begun. kInvalidArgument when `id` exists already.
  Result<PendingCheckpoint> begin(CheckpointId id) const;

  // Complete means here: the metadata verifies. One of a newer format is skipped too.
  Result<Listing> list_completed() const;
  // The newest checkpoint of which everything verifies. Half-written and damaged ones are skipped.
  // Fails when a newer one than it is of a newer format version (kNotSupported) or of another job
  // (kInvalidArgument): going back behind such a one would be a silent loss. `copies` may hold the
  // same checkpoints in another place: read from there when all verifies.
  Result<Newest> newest_complete(const CheckpointStorage* copies = nullptr) const;

  // Of all there are, complete or not; 0: none.
  Result<CheckpointId> highest_id() const;

  Status discard(CheckpointId id) const;
  // Discards all complete ones but the newest `count`; the ones discarded.
  Result<std::vector<CheckpointId>> retain(size_t count) const;
  // Removes what crashes have left: half-made checkpoints, and shared files that no complete one
  // uses. REQUIRES: no checkpoint is being written.
  Status remove_leftovers() const;

  [[nodiscard]] std::string path_of(CheckpointId id) const;
  [[nodiscard]] const std::string& job_directory() const { return job_directory_; }
  [[nodiscard]] FileSystem* files() const { return files_; }

 private:
  CheckpointStorage(std::string directory, std::string job_id, FileSystem* files);
  struct Directory {
    CheckpointId id;
    bool in_progress = false;
    std::string path;
  };
  // Of each `chk-<n>`, complete or not, ascending.
  Result<std::vector<Directory>> list_directories() const;
  // Knows from its first use on what the complete checkpoints share.
  Result<std::shared_ptr<SharedStateRegistry>> registry() const;
  Result<LoadedCheckpoint> read(CheckpointId id, const CheckpointStorage* copies) const;
  Status check_job(const CheckpointMetadata& metadata, CheckpointId id) const;

  // What a storage and its copies have in common.
  struct Shared {
    std::mutex mutex;
    std::shared_ptr<SharedStateRegistry> registry;  // guarded by mutex; null before its first use
  };

  std::string job_id_;
  std::string job_directory_;
  FileSystem* files_;
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
};

}  // namespace penstock
