// An Env that never waits for the disk: sync is left out, everything else is that of another Env.
//
// The database of a backend does not outlive its process, and what does - the files of a checkpoint -
// is made durable by who stores it. Waiting for the disk at every new file, family and flush would
// only cost time: most of that of opening a state.
//
// Thread safety: that of the Env beneath.
#pragma once

#include <rocksdb/env.h>

#include <memory>

namespace penstock {

// Over the files of `base`, which outlives it.
std::unique_ptr<rocksdb::Env> make_unsynced_env(rocksdb::Env* base);

}  // namespace penstock
