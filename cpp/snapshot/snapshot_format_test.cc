#include "snapshot/snapshot_format.h"

#include <gtest/gtest.h>

#include "snapshot/bytes.h"
#include "snapshot/crc32c.h"
#include "snapshot/snapshot_test_util.h"
#include "snapshot/task_sections.h"

namespace penstock {
namespace {

class SnapshotFormatTest : public testing::Test {
 protected:
  std::string write(const TaskState& state) {
    const std::string path = directory_.path() + "/task";
    auto summary = write_task_state(local_file_system(), path, state);
    EXPECT_TRUE(summary.is_ok()) << summary.status().message();
    std::string bytes = local_file_system()->read(path).value().value();
    EXPECT_EQ(bytes.size(), summary.value().file.size);
    EXPECT_EQ(crc32c(bytes), summary.value().file.crc32c);
    return bytes;
  }
  static Status parse(std::string_view bytes) { return parse_task_state(bytes, "FILE").status(); }
  static bool mentions(const Status& status, const std::string& text) {
    return status.message().find(text) != std::string::npos;
  }
  // The bytes with a header of that version, whose checksum is right.
  static std::string with_version(std::string bytes, uint32_t version) {
    std::string header(kContainerMagic);
    put_u32(&header, version);
    put_u32(&header, static_cast<uint32_t>(ContainerKind::kTaskState));
    put_u32(&header, mask_crc32c(crc32c(header)));
    return header + bytes.substr(header.size());
  }

  TemporaryDirectory directory_;
};

TEST_F(SnapshotFormatTest, StateComesBackAsItWas) {
  const TaskState state = sample_task(1, "m");
  auto read = parse_task_state(write(state), "FILE");
  ASSERT_TRUE(read.is_ok()) << read.status().message();
  const TaskState& got = read.value();
  EXPECT_EQ(got.task, state.task);
  EXPECT_EQ(got.parallelism, 2);
  EXPECT_EQ(got.max_parallelism, 8);
  ASSERT_EQ(got.operators.size(), 2u);
  EXPECT_EQ(got.operators[0].uid, "source-uid");
  const ListStateData* list = got.operators[0].state.find_list("splits");
  ASSERT_NE(list, nullptr);
  EXPECT_EQ(list->items, (std::vector<std::string>{"m", "", "item"}));
  EXPECT_EQ(list->meta.kind, StateKind::kOperatorList);
  const KeyedStateData* keyed = got.operators[1].state.find_keyed("contents");
  ASSERT_NE(keyed, nullptr);
  EXPECT_EQ(keyed->groups, state.operators[1].state.keyed[0].groups);
  EXPECT_EQ(keyed->meta.namespace_type, "window_end:int64");
  EXPECT_EQ(keyed->meta.value_type, "count:int64");
}

// Gives out what it was made with, and counts how often.
class FixedDeferredState final : public DeferredKeyedState {
 public:
  FixedDeferredState(StateMeta meta, std::vector<std::pair<int32_t, std::string>> pieces)
      : meta_(std::move(meta)), pieces_(std::move(pieces)) {}
  [[nodiscard]] const StateMeta& meta() const override { return meta_; }
  Status for_each_group(
      const std::function<Status(int32_t, std::string_view)>& visit) const override {
    for (const auto& [group, entries] : pieces_) PENSTOCK_RETURN_NOT_OK(visit(group, entries));
    return Status::ok();
  }

 private:
  StateMeta meta_;
  std::vector<std::pair<int32_t, std::string>> pieces_;
};

std::string entry(const std::string& key, const std::string& value) {
  KeyedStateData data;
  data.add(0, key, "", value);
  return data.groups[0];
}

TaskState deferred_task(std::vector<std::pair<int32_t, std::string>> pieces) {
  TaskState task{{"v", 1}, 2, 8, {{"uid", {}}}};
  const StateMeta meta{"counts", StateKind::kValue, "encoded", "", "LONG"};
  task.operators[0].state.deferred.push_back(
      std::make_shared<FixedDeferredState>(meta, std::move(pieces)));
  return task;
}

TEST_F(SnapshotFormatTest, DeferredStateIsReadOutIntoTheFile) {
  const TaskState state =
      deferred_task({{4, entry("a", "1")}, {4, entry("b", "2")}, {7, entry("c", "3")}});
  auto read = parse_task_state(write(state), "FILE");
  ASSERT_TRUE(read.is_ok()) << read.status().message();
  const OperatorState& got = read.value().operators[0].state;
  EXPECT_TRUE(got.deferred.empty());
  ASSERT_EQ(got.keyed.size(), 1u);
  EXPECT_EQ(got.keyed[0].meta.value_type, "LONG");
  EXPECT_EQ(got.keyed[0].groups,
            (std::map<int32_t, std::string>{{4, entry("a", "1") + entry("b", "2")},
                                            {7, entry("c", "3")}}));
  EXPECT_EQ(serialise_task_state(state).value(), write(state));  // may be read out again
}

TEST_F(SnapshotFormatTest, DeferredGroupsOutOfOrderOrRangeAreNotWritten) {
  for (const int32_t second : {3, 4, 8}) {
    const TaskState state = deferred_task({{5, entry("a", "1")}, {second, entry("b", "2")}});
    const Status status = serialise_task_state(state).status();
    EXPECT_EQ(status.code(), StatusCode::kInternal) << second;
    EXPECT_TRUE(
        mentions(status, "operator uid: state 'counts': key group " + std::to_string(second)));
  }
}

TEST_F(SnapshotFormatTest, LargeKeyGroupIsCutBetweenEntries) {
  const std::string large(kKeyGroupSectionBytes / 2 - 100, 'x');
  const std::string huge(kKeyGroupSectionBytes + 1, 'y');
  const std::string entries =
      entry("a", large) + entry("b", large) + entry("c", large) + entry("d", huge) + entry("e", "");
  const std::string bytes = write(deferred_task({{5, entries}, {6, entry("f", "")}}));
  auto sections = read_container(bytes, ContainerKind::kTaskState, "FILE");
  std::vector<std::string> groups;
  for (const Section& section : sections.value()) {
    if (section.type == kKeyGroupSection) groups.emplace_back(section.payload.substr(4));
  }
  EXPECT_EQ(groups,
            (std::vector<std::string>{entry("a", large) + entry("b", large), entry("c", large),
                                      entry("d", huge), entry("e", ""), entry("f", "")}));
  auto read = parse_task_state(bytes, "FILE");
  ASSERT_TRUE(read.is_ok());
  EXPECT_EQ(read.value().operators[0].state.keyed[0].groups.at(5), entries);
}

// Sections as they are, but one is left out, doubled or exchanged with the next: the container's
// own count is right.
TEST_F(SnapshotFormatTest, NoSectionOfAKeyedStateCanBeMissingDoubledOrExchanged) {
  const std::string bytes = write(deferred_task({{5, entry("a", "1")}, {6, entry("b", "22")}}));
  const auto sections = read_container(bytes, ContainerKind::kTaskState, "FILE").value();
  ASSERT_EQ(sections.size(), 6u);
  const auto parse_order = [&](const std::vector<size_t>& order) {
    const std::string path = directory_.path() + "/hand";
    auto file = local_file_system()->create(path);
    ContainerWriter out(file.value().get(), ContainerKind::kTaskState);
    for (const size_t i : order) {
      EXPECT_TRUE(out.add_section(sections[i].type, sections[i].payload).is_ok());
    }
    EXPECT_TRUE(out.finish().is_ok());
    return parse(local_file_system()->read(path).value().value());
  };
  EXPECT_TRUE(parse_order({0, 1, 2, 3, 4, 5}).is_ok());
  for (size_t i = 0; i < sections.size(); ++i) {
    std::vector<size_t> order{0, 1, 2, 3, 4, 5};
    order.insert(order.begin() + static_cast<std::ptrdiff_t>(i), i);
    // An operator twice is none of the format's business: the checksum of the file is.
    if (i != 1) {
      EXPECT_EQ(parse_order(order).code(), StatusCode::kCorruption) << "doubled " << i;
    }
    order = {0, 1, 2, 3, 4, 5};
    order.erase(order.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_EQ(parse_order(order).code(), StatusCode::kCorruption) << "without " << i;
    order = {0, 1, 2, 3, 4, 5};
    if (i + 1 == order.size()) continue;
    std::swap(order[i], order[i + 1]);
    EXPECT_EQ(parse_order(order).code(), StatusCode::kCorruption) << "exchanged " << i;
  }
}

TEST_F(SnapshotFormatTest, KeyedKindInAListIsRefused) {
  TaskState list = sample_task(0, "m");
  list.operators[0].state.lists[0].meta.kind = StateKind::kMap;
  TaskState keyed = sample_task(0, "m");
  keyed.operators[1].state.keyed[0].meta.kind = StateKind::kBroadcast;
  for (const TaskState& state : {list, keyed}) {
    EXPECT_EQ(parse(write(state)).code(), StatusCode::kCorruption);
  }
}

class NativeStateTest : public SnapshotFormatTest {
 protected:
  NativeStateTest() {
    NativeState native;
    native.backend = "rocksdb";
    native.description = "what it wants to know";
    native.key_groups = {4, 7};
    native.states = {{"counts", StateKind::kValue, "encoded", "", "LONG"},
                     {"timers", StateKind::kTimers, "encoded", "", "BIG_INT"}};
    for (const char* name : {"CURRENT", "1.sst", "MANIFEST", "2.sst"})
      native.files.push_back(file(name));
    native.files[1].content_id = "one";
    native.files[3].content_id = "two";
    task_.operators[0].state.native.push_back(native);
  }
  StateFile file(const std::string& name) {
    const std::string path = directory_.path() + "/" + name;
    const std::string content = "content of " + name;
    EXPECT_TRUE(write_file(local_file_system(), path, content).is_ok());
    return {name, path, content.size(), 0, ""};
  }
  std::string write_with(const StoreSharedFile& store) {
    const std::string path = directory_.path() + "/task";
    auto written = write_task_state(local_file_system(), path, task_, store);
    EXPECT_TRUE(written.is_ok()) << written.status().message();
    shared_ = written.value().shared;
    return local_file_system()->read(path).value().value();
  }
  // "name=content" of private files, "name@content id" of shared ones.
  static PlaceStateFile remember(std::vector<std::string>* out) {
    return [out](std::optional<std::string_view> content, StateFile* file) {
      out->push_back(file->name + (content ? "=" + std::string(*content) : "@" + file->content_id));
      file->path = "placed";
      return Status::ok();
    };
  }

  TaskState task_{{"v", 1}, 2, 8, {{"uid", {}}}};
  std::vector<SharedFile> shared_;
};

TEST_F(NativeStateTest, FilesAreSharedOrPackedIntoTheTasksFile) {
  const std::string bytes = write_with([](const StateFile& f) -> Result<SharedFile> {
    return SharedFile{f.content_id, f.size, 77};
  });
  EXPECT_EQ(shared_, (std::vector<SharedFile>{{"one", 16, 77}, {"two", 16, 77}}));
  std::vector<std::string> placed;
  auto read = parse_task_state(bytes, "FILE", remember(&placed));
  ASSERT_TRUE(read.is_ok()) << read.status().message();
  EXPECT_EQ(placed, (std::vector<std::string>{"CURRENT=content of CURRENT", "1.sst@one",
                                              "MANIFEST=content of MANIFEST", "2.sst@two"}));
  const NativeState& got = read.value().operators[0].state.native.at(0);
  EXPECT_EQ(got.backend, "rocksdb");
  EXPECT_EQ(got.description, "what it wants to know");
  EXPECT_EQ(got.key_groups.start, 4);
  EXPECT_EQ(got.key_groups.end, 7);
  EXPECT_EQ(got.states[1].kind, StateKind::kTimers);
  EXPECT_EQ(got.files[1].crc32c, 77u);
  EXPECT_EQ(got.files[0].path, "placed");
}

TEST_F(NativeStateTest, FilesThatAreMadeLaterAreMadeWhenTheyAreWritten) {
  NativeState& native = task_.operators[0].state.native[0];
  const std::vector<StateFile> files = std::exchange(native.files, {});
  native.make_files = [files](NativeState* self) {
    self->files = files;
    return Status::ok();
  };
  std::vector<std::string> placed;
  for (int twice = 0; twice < 2; ++twice) {  // a copy on this machine, and the checkpoint
    placed.clear();
    ASSERT_TRUE(parse_task_state(write_with({}), "FILE", remember(&placed)).is_ok());
    EXPECT_EQ(placed.size(), 4u);
  }
  native.make_files = [](NativeState*) { return Status::io_error("no room"); };
  EXPECT_EQ(serialise_task_state(task_).status().message(), "operator uid: no room");
}

TEST_F(NativeStateTest, WithoutAStoreTheTasksFileHoldsAll) {
  std::vector<std::string> placed;
  ASSERT_TRUE(parse_task_state(write_with({}), "FILE", remember(&placed)).is_ok());
  EXPECT_EQ(placed.at(1), "1.sst=content of 1.sst");
  EXPECT_TRUE(shared_.empty());
}

TEST_F(NativeStateTest, EveryFlippedBitAndTruncationIsDetected) {
  const std::string bytes = write_with({});
  std::vector<std::string> ignored;
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(parse_task_state(flipped, "FILE", remember(&ignored)).is_ok()) << bit;
  }
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(parse_task_state(bytes.substr(0, size), "FILE", remember(&ignored)).is_ok());
  }
}

TEST_F(NativeStateTest, FileThatChangedOnTheWayIsNotWritten) {
  task_.operators[0].state.native[0].files[2].crc32c = 5;
  const Status status = serialise_task_state(task_).status();
  EXPECT_EQ(status.code(), StatusCode::kCorruption);
  EXPECT_TRUE(mentions(status, "MANIFEST"));
}

TEST_F(NativeStateTest, WhoCannotPlaceFilesIsToldSo) {
  const Status status = parse(write_with({}));
  EXPECT_EQ(status.code(), StatusCode::kNotSupported);
  EXPECT_TRUE(mentions(status, "'rocksdb'"));
}

TEST_F(NativeStateTest, NamesThatLeadElsewhereAreRefused) {
  for (const char* name : {"../x", "", ".", "..", "a/b"}) {
    task_.operators[0].state.native[0].files[0].name = name;
    std::vector<std::string> ignored;
    EXPECT_EQ(parse_task_state(write_with({}), "FILE", remember(&ignored)).status().code(),
              StatusCode::kCorruption)
        << name;
  }
}

TEST_F(SnapshotFormatTest, EmptyStateIsAFileToo) {
  TaskState state;
  state.task = {"v", 0};
  auto read = parse_task_state(write(state), "FILE");
  ASSERT_TRUE(read.is_ok());
  EXPECT_TRUE(read.value().operators.empty());
}

TEST_F(SnapshotFormatTest, KeyGroupOutsideTheSubtasksRangeIsNotWritten) {
  TaskState state = sample_task(0, "m");
  state.operators[1].state.keyed[0].add(7, "k", "", "v");
  const std::string path = directory_.path() + "/bad";
  EXPECT_EQ(write_task_state(local_file_system(), path, state).status().code(),
            StatusCode::kInternal);
}

TEST_F(SnapshotFormatTest, EveryTruncationIsDetected) {
  const std::string bytes = write(sample_task(0, "m"));
  for (size_t size = 0; size < bytes.size(); ++size) {
    const Status status = parse(bytes.substr(0, size));
    EXPECT_EQ(status.code(), StatusCode::kCorruption) << size;
    EXPECT_TRUE(mentions(status, "FILE")) << size;
  }
}

TEST_F(SnapshotFormatTest, EverySingleBitFlipIsDetected) {
  const std::string bytes = write(sample_task(0, "m"));
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_EQ(parse(flipped).code(), StatusCode::kCorruption) << bit;
  }
}

TEST_F(SnapshotFormatTest, BytesAfterTheEndAreDetected) {
  EXPECT_TRUE(mentions(parse(write(sample_task(0, "m")) + "x"), "follow its end marker"));
}

TEST_F(SnapshotFormatTest, NewerVersionNamesBothVersions) {
  const Status status = parse(with_version(write(sample_task(0, "m")), 7));
  EXPECT_EQ(status.code(), StatusCode::kNotSupported);
  EXPECT_TRUE(mentions(status, "FILE"));
  EXPECT_TRUE(mentions(status, "version 7"));
  EXPECT_TRUE(mentions(status, "version " + std::to_string(kFormatVersion)));
  EXPECT_EQ(parse(with_version(write(sample_task(0, "m")), 0)).code(), StatusCode::kCorruption);
}

TEST_F(SnapshotFormatTest, KindOfStateThatIsNotKnownNamesTheState) {
  TaskState keyed = sample_task(0, "m");
  keyed.operators[1].state.keyed[0].meta.kind = static_cast<StateKind>(99);
  TaskState list = sample_task(0, "m");
  list.operators[0].state.lists[0].meta.kind = static_cast<StateKind>(0);
  for (const TaskState& state : {keyed, list}) {
    const Status status = parse(write(state));
    EXPECT_EQ(status.code(), StatusCode::kNotSupported);
    EXPECT_TRUE(mentions(status, "FILE"));
    EXPECT_TRUE(mentions(status, "does not know"));
  }
  EXPECT_TRUE(mentions(parse(write(keyed)), "'contents' of operator 'window-uid' is of kind 99"));
}

TEST_F(SnapshotFormatTest, AnotherKindOfFileIsRefused) {
  EXPECT_TRUE(mentions(parse("this is no snapshot, but long enough"), "does not begin"));
  const auto metadata = parse_metadata(write(sample_task(0, "m")), "FILE").status();
  EXPECT_TRUE(mentions(metadata, "kind 1, expected kind 2"));
}

// Sections with right checksums in an order that makes no sense: built by hand, never by us.
TEST_F(SnapshotFormatTest, SectionsOutOfPlaceAreRefused) {
  const auto build = [&](const std::vector<uint32_t>& types) {
    const std::string path = directory_.path() + "/hand";
    auto file = local_file_system()->create(path);
    ContainerWriter out(file.value().get(), ContainerKind::kTaskState);
    for (const uint32_t type : types) EXPECT_TRUE(out.add_section(type, "").is_ok());
    EXPECT_TRUE(out.finish().is_ok());
    return local_file_system()->read(path).value().value();
  };
  for (const std::vector<uint32_t>& types :
       {std::vector<uint32_t>{}, {1}, {2}, {3}, {4}, {5}, {99}}) {
    EXPECT_EQ(parse(build(types)).code(), StatusCode::kCorruption);
  }
}

// Found by `make fuzz`: they were believed, and dividing by the parallelism came later.
TEST_F(SnapshotFormatTest, TasksThatCannotBeAreRefused) {
  struct Task {
    int32_t subtask, parallelism, max_parallelism;
  };
  for (const Task task : {Task{0, 0, 8}, {2, 2, 8}, {-1, 2, 8}, {0, 9, 8}, {0, 1, 1 << 30}}) {
    std::string head;
    put_bytes(&head, "v");
    put_i32(&head, task.subtask);
    put_i32(&head, task.parallelism);
    put_i32(&head, task.max_parallelism);
    const std::string path = directory_.path() + "/hand";
    auto file = local_file_system()->create(path);
    ContainerWriter out(file.value().get(), ContainerKind::kTaskState);
    ASSERT_TRUE(out.add_section(1, head).is_ok());
    ASSERT_TRUE(out.finish().is_ok());
    EXPECT_EQ(parse(local_file_system()->read(path).value().value()).code(),
              StatusCode::kCorruption);
  }
}

TEST_F(SnapshotFormatTest, KeyGroupsOfAnotherSubtaskAreRefused) {
  TaskState other = sample_task(1, "m");
  std::string bytes = serialise_task_state(other).value();
  // The subtask, behind the header, the section's head and the vertex; then the section's checksum.
  const size_t section = 20;
  const size_t subtask = section + 12 + 4 + other.task.vertex.size();
  bytes[subtask] = 0;
  const std::string checked = bytes.substr(section, subtask + 12 - section);
  std::string checksum;
  put_u32(&checksum, mask_crc32c(crc32c(checked)));
  bytes.replace(subtask + 12, 4, checksum);
  EXPECT_TRUE(mentions(parse(bytes), "does not make sense"));
}

TEST_F(SnapshotFormatTest, MissingFileIsReportedAsSuch) {
  const Status status =
      read_task_state(local_file_system(), directory_.path() + "/nowhere").status();
  EXPECT_TRUE(mentions(status, "nowhere"));
  EXPECT_TRUE(mentions(status, "missing"));
}

TEST_F(SnapshotFormatTest, FailuresOfTheDiskNameThePath) {
  const std::string path = directory_.path() + "/no/such/directory/file";
  const Status status = write_file(local_file_system(), path, "x");
  EXPECT_EQ(status.code(), StatusCode::kIoError);
  EXPECT_TRUE(mentions(status, path));
  EXPECT_TRUE(mentions(status, "No such file"));
}

TEST_F(SnapshotFormatTest, ReplaceFileLeavesNoTemporary) {
  const std::string path = directory_.path() + "/file";
  ASSERT_TRUE(replace_file(local_file_system(), path, "old").is_ok());
  ASSERT_TRUE(replace_file(local_file_system(), path, "new").is_ok());
  EXPECT_EQ(local_file_system()->read(path).value(), "new");
  EXPECT_EQ(local_file_system()->list(directory_.path()).value(),
            (std::vector<std::string>{"file"}));
}

}  // namespace
}  // namespace penstock
