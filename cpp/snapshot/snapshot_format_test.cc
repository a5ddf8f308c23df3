#include "snapshot/snapshot_format.h"

#include <gtest/gtest.h>

#include "snapshot/bytes.h"
#include "snapshot/crc32c.h"
#include "snapshot/snapshot_test_util.h"

namespace penstock {
namespace {

class SnapshotFormatTest : public testing::Test {
 protected:
  std::string write(const TaskState& state) {
    const std::string path = directory_.path() + "/task";
    auto summary = write_task_state(local_file_system(), path, state);
    EXPECT_TRUE(summary.is_ok()) << summary.status().message();
    std::string bytes = local_file_system()->read(path).value().value();
    EXPECT_EQ(bytes.size(), summary.value().size);
    EXPECT_EQ(crc32c(bytes), summary.value().crc32c);
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
