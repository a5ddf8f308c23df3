// Disks that fail: whatever happens, a clear error or the right value.

#include <rocksdb/file_system.h>

#include <atomic>
#include <fstream>

#include "state/rocksdb/rocks_test_util.h"

namespace penstock {
namespace {

using rocksdb::FileOptions;
using rocksdb::FSWritableFile;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;

// How much may still be written, and what happens then.
struct Disk {
  std::atomic<int64_t> room{INT64_MAX};
  std::atomic<bool> read_only{false};

  IOStatus take(size_t bytes) {
    if (read_only) return IOStatus::IOError("Read-only file system");
    if (room.fetch_sub(static_cast<int64_t>(bytes)) >= static_cast<int64_t>(bytes)) {
      return IOStatus::OK();
    }
    room = 0;
    return IOStatus::NoSpace("No space left on device");
  }
};

class FailingFile final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  FailingFile(std::unique_ptr<FSWritableFile>&& file, Disk* disk)
      : FSWritableFileOwnerWrapper(std::move(file)), disk_(disk) {}
  IOStatus Append(const rocksdb::Slice& data, const IOOptions& options,
                  IODebugContext* debug) override {
    const IOStatus taken = disk_->take(data.size());
    return taken.ok() ? FSWritableFileOwnerWrapper::Append(data, options, debug) : taken;
  }
  IOStatus Append(const rocksdb::Slice& data, const IOOptions& options,
                  const rocksdb::DataVerificationInfo&, IODebugContext* debug) override {
    return Append(data, options, debug);
  }

 private:
  Disk* const disk_;
};

class FailingFileSystem final : public rocksdb::FileSystemWrapper {
 public:
  FailingFileSystem(const std::shared_ptr<FileSystem>& base, Disk* disk)
      : FileSystemWrapper(base), disk_(disk) {}
  const char* Name() const override { return "Failing"; }
  IOStatus NewWritableFile(const std::string& name, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* file, IODebugContext* debug) override {
    const IOStatus taken = disk_->take(0);
    if (!taken.ok()) return taken;
    const IOStatus made = target()->NewWritableFile(name, options, file, debug);
    if (made.ok()) *file = std::make_unique<FailingFile>(std::move(*file), disk_);
    return made;
  }

 private:
  Disk* const disk_;
};

class RocksFailureTest : public RocksTest {
 protected:
  std::unique_ptr<RocksKeyedStateBackend> make_on_disk(Options options = {}) {
    return make(context(std::move(options)), env_.get());
  }
  static ValueTable* counts(KeyedStateBackend* backend) {
    return must(backend->value_table(described(StateKind::kValue, "counts")));
  }
  // Writes until something fails; the failure.
  Status write_until_failure(KeyedStateBackend* backend, ValueTable* table) {
    const std::string value(1000, 'v');
    for (int64_t i = 0; i < 200'000; ++i) {
      const Status status = table->put(entry_key(int_key(i)), value);
      if (!status.is_ok()) return status;
    }
    OperatorState state;
    const Status status = backend->snapshot(state.request, &state);
    return status.is_ok() ? state.materialise() : status;
  }
  // The names of the database's SST files.
  static std::vector<std::string> tables_of(const RocksKeyedStateBackend& backend) {
    std::vector<std::string> paths;
    const std::string path = backend.store()->setup().directory->database_path();
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
      if (entry.path().extension() == ".sst") paths.push_back(entry.path().string());
    }
    return paths;
  }

  Disk disk_;
  std::unique_ptr<rocksdb::Env> env_ = rocksdb::NewCompositeEnv(
      std::make_shared<FailingFileSystem>(rocksdb::FileSystem::Default(), &disk_));
};

const Options kSmall = {{"penstock.state.write-back-tier", "256kb"},
                        {"state.backend.rocksdb.writebuffer.size", "1mb"},
                        {"state.backend.rocksdb.writebuffer.count", "2"}};

TEST_F(RocksFailureTest, AFullDiskIsSaidToBeFull) {
  auto backend = make_on_disk(kSmall);
  ValueTable* const table = counts(backend.get());
  disk_.room = 4 << 20;
  const Status status = write_until_failure(backend.get(), table);
  EXPECT_EQ(status.code(), StatusCode::kIoError) << status.message();
  for (const char* part : {"'Sum'", "No space left", "the disk is full", "localdir"}) {
    EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
  }
  // And it stays so: nobody goes on with half of the state.
  EXPECT_FALSE(table->put(entry_key("k"), "v").is_ok());
  EXPECT_FALSE(table->get(entry_key("k")).is_ok());
  OperatorState state;
  EXPECT_FALSE(backend->snapshot(state.request, &state).is_ok());
}

TEST_F(RocksFailureTest, ADiskThatIsFullAtTheBarrierFailsThatCheckpoint) {
  auto backend = make_on_disk();
  must(counts(backend.get())->put(entry_key("k"), "v"));
  disk_.room = 10;
  OperatorState state;
  must(backend->snapshot(state.request, &state));
  const Status status = state.materialise();
  EXPECT_EQ(status.code(), StatusCode::kIoError) << status.message();
  EXPECT_NE(status.message().find("'Sum'"), std::string::npos) << status.message();
}

TEST_F(RocksFailureTest, ADirectoryThatCannotBeWrittenToIsNamed) {
  disk_.read_only = true;
  auto backend = make_on_disk();
  const Status status = backend->value_table(described(StateKind::kValue, "counts")).status();
  EXPECT_EQ(status.code(), StatusCode::kIoError) << status.message();
  EXPECT_NE(status.message().find("Read-only file system"), std::string::npos);
  EXPECT_NE(status.message().find(directory_.path()), std::string::npos);

  std::ofstream(directory_.path() + "/file") << "x";
  const std::string below = directory_.path() + "/file/below";
  auto other = make(context({{"state.backend.rocksdb.localdir", below}}));
  const Status other_status = other->value_table(described(StateKind::kValue, "counts")).status();
  EXPECT_EQ(other_status.code(), StatusCode::kIoError);
  EXPECT_NE(other_status.message().find(below), std::string::npos) << other_status.message();
}

TEST_F(RocksFailureTest, ADiskThatTurnsReadOnlyFailsTheNextWrite) {
  auto backend = make_on_disk(kSmall);
  ValueTable* const table = counts(backend.get());
  must(table->put(entry_key("k"), "v"));
  disk_.read_only = true;
  const Status status = write_until_failure(backend.get(), table);
  EXPECT_EQ(status.code(), StatusCode::kIoError) << status.message();
  EXPECT_NE(status.message().find("Read-only file system"), std::string::npos);
}

// Every byte of every SST: either found out or without effect on any value.
TEST_F(RocksFailureTest, AFlippedByteInAnSstNeverGivesAWrongValue) {
  auto backend = make();
  ValueTable* const table = counts(backend.get());
  for (int64_t i = 0; i < 300; ++i) must(table->put(entry_key(int_key(i)), std::to_string(i)));
  const OperatorState state = native_of(backend.get());
  std::string sst;
  for (const StateFile& file : state.native.at(0).files) {
    if (!file.content_id.empty()) sst = file.path;
  }
  const auto size = static_cast<int64_t>(std::filesystem::file_size(sst));
  int found = 0;
  for (int64_t at = 0; at < size; at += 37) {
    OperatorState damaged = state;
    const std::string copy = directory_.path() + "/damaged.sst";
    std::filesystem::copy_file(sst, copy, std::filesystem::copy_options::overwrite_existing);
    {
      std::fstream file(copy, std::ios::in | std::ios::out | std::ios::binary);
      file.seekg(at);
      const auto byte = static_cast<char>(file.get() ^ 0x10);
      file.seekp(at);
      file.put(byte);
    }
    for (StateFile& file : damaged.native.at(0).files) {
      if (file.path == sst) file.path = copy;
    }
    auto again = make();
    Status status = again->restore(damaged);
    ValueTable* reopened = nullptr;
    if (status.is_ok()) {
      auto opened = again->value_table(described(StateKind::kValue, "counts"));
      status = opened.status();
      if (status.is_ok()) reopened = opened.value();
    }
    for (int64_t i = 0; i < 300 && status.is_ok(); ++i) {
      const auto value = reopened->get(entry_key(int_key(i)));
      status = value.status();
      if (status.is_ok()) {
        ASSERT_EQ(value.value(), std::optional<std::string_view>(std::to_string(i))) << at;
      }
    }
    if (status.is_ok()) continue;
    ++found;
    EXPECT_TRUE(status.code() == StatusCode::kCorruption || status.code() == StatusCode::kIoError)
        << status.message();
    EXPECT_NE(status.message().find("'Sum'"), std::string::npos) << status.message();
  }
  EXPECT_GT(found, 10);
}

TEST_F(RocksFailureTest, ADamagedBlockIsNamedWithItsStateAndFile) {
  auto backend = make();
  ValueTable* const table = counts(backend.get());
  const std::string value(100, 'v');
  for (int64_t i = 0; i < 20'000; ++i) must(table->put(entry_key(int_key(i)), value));
  OperatorState state = native_of(backend.get());
  for (StateFile& file : state.native.at(0).files) {
    if (file.content_id.empty()) continue;
    std::fstream bytes(file.path, std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekp(static_cast<std::streamoff>(file.size / 3));
    bytes.write("damage", 6);
  }
  auto again = restored(state);
  ValueTable* const reopened = counts(again.get());
  Status status;
  for (int64_t i = 0; i < 20'000 && status.is_ok(); ++i) {
    const auto read = reopened->get(entry_key(int_key(i)));
    status = read.status();
    if (status.is_ok()) {
      ASSERT_EQ(read.value(), std::optional<std::string_view>(value));
    }
  }
  EXPECT_EQ(status.code(), StatusCode::kCorruption) << status.message();
  for (const char* part : {"'Sum'", "state 'counts'", ".sst", "start again from the last"}) {
    EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
  }
}

TEST_F(RocksFailureTest, ALostSstFailsTheRestoreAndIsNamed) {
  auto backend = make();
  must(counts(backend.get())->put(entry_key("k"), "v"));
  OperatorState state = native_of(backend.get());
  std::string lost;
  auto& files = state.native.at(0).files;
  for (size_t i = 0; i < files.size(); ++i) {
    if (files[i].content_id.empty()) continue;
    lost = std::filesystem::path(files[i].name).stem().string();
    files.erase(files.begin() + static_cast<std::ptrdiff_t>(i));
    break;
  }
  const Status status = make()->restore(state);
  EXPECT_TRUE(status.code() == StatusCode::kCorruption || status.code() == StatusCode::kIoError);
  EXPECT_NE(status.message().find(lost), std::string::npos) << status.message();
}

}  // namespace
}  // namespace penstock
