#include "columnar/batch.h"

#include <gtest/gtest.h>

#include <map>

#include "columnar/test_columns.h"

namespace penstock {
namespace {

using testing::field;
using testing::render_all;

// References to each "object" (any address) that the core holds.
std::map<ObjectPtr, int> references;

void install_counting_ops() {
  references.clear();
  install_object_ops({.retain_many =
                          [](ObjectPtr const* objects, int64_t count) {
                            for (int64_t i = 0; i < count; ++i) ++references[objects[i]];
                          },
                      .release_many =
                          [](ObjectPtr const* objects, int64_t count) {
                            for (int64_t i = 0; i < count; ++i) --references[objects[i]];
                          }});
}

Batch make_columns() {
  BinaryBuilder names(utf8());
  for (const char* name : {"a", "b", "c", "d"}) names.append(name);
  const auto schema = std::make_shared<const Schema>(
      std::vector<FieldPtr>{field("n", int64()), field("name", utf8())});
  Batch batch = make_batch(schema, {int64_column({1, 2, 3, 4}), names.finish().value()}, 4);
  batch.timestamps = int64_column({10, 20, 30, 40});
  auto keys = std::make_shared<EncodedKeys>();
  keys->bytes = batch.columns[1];
  keys->hashes = {100, 200, 300, 400};
  batch.keys = keys;
  return batch;
}

TEST(Batch, SliceCutsColumnsTimestampsAndKeysAlike) {
  const Batch slice = make_columns().slice(1, 2);
  EXPECT_EQ(slice.num_rows, 2);
  EXPECT_EQ(slice.columns[0].data<int64_t>()[0], 2);
  EXPECT_EQ(render_all(slice.columns[1]), (std::vector<std::string>{"'b'", "'c'"}));
  EXPECT_EQ(slice.timestamp_data()[1], 30);
  EXPECT_EQ(slice.keys->bytes.bytes_at(0), "b");
  EXPECT_EQ(slice.keys->hashes, (std::vector<uint32_t>{200, 300}));
}

TEST(Batch, TakeGathersColumnsTimestampsAndKeysAlike) {
  const int32_t indices[] = {3, 0, 3};
  const Batch taken = make_columns().take(indices, 3).value();
  EXPECT_EQ(taken.num_rows, 3);
  EXPECT_EQ(render_all(taken.columns[1]), (std::vector<std::string>{"'d'", "'a'", "'d'"}));
  EXPECT_EQ(taken.timestamp_data()[2], 40);
  EXPECT_EQ(taken.keys->hashes, (std::vector<uint32_t>{400, 100, 400}));
}

TEST(Batch, WithoutTimestampsHasNone) {
  Batch batch = make_columns();
  batch.timestamps = {};
  EXPECT_EQ(batch.timestamp_data(), nullptr);
  EXPECT_FALSE(batch.slice(0, 1).has_timestamps());
}

TEST(Batch, RowsCountReferencesOncePerHolder) {
  install_counting_ops();
  int a = 0;
  int b = 0;
  references[&a] = references[&b] = 1;
  {
    const Batch batch = make_rows({ObjectVector::adopt({&a, &b}), 0, 2});
    EXPECT_FALSE(batch.is_columnar());
    const Batch slice = batch.slice(1, 1);
    EXPECT_EQ(slice.rows.at(0), &b);
    EXPECT_EQ(references[&b], 1);
    const int32_t indices[] = {1, 1};
    const Batch taken = batch.take(indices, 2).value();
    EXPECT_EQ(taken.rows.at(1), &b);
    EXPECT_EQ(references[&a], 1);
    EXPECT_EQ(references[&b], 3);
  }
  EXPECT_EQ(references[&a], 0);
  EXPECT_EQ(references[&b], 0);
}

TEST(Int64Column, TakesTheVectorOver) {
  std::vector<int64_t> values = {1, 2, 3};
  const int64_t* data = values.data();
  const Column column = int64_column(std::move(values));
  EXPECT_EQ(column.data<int64_t>(), data);
  EXPECT_EQ(int64_column({}).length, 0);
}

}  // namespace
}  // namespace penstock
