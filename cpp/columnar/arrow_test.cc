// Import and export by the Arrow C Data Interface.

#include <gtest/gtest.h>

#include <cstring>

#include "columnar/arrow_import.h"
#include "columnar/metadata.h"
#include "columnar/test_columns.h"

namespace penstock {
namespace {

using testing::all_layouts;
using testing::field;
using testing::flat_type;
using testing::RandomColumns;
using testing::render_all;

// A producer's array that counts its releases.
struct Produced {
  explicit Produced(const char* format) {
    schema.format = format;
    schema.name = "x";
    schema.flags = ARROW_FLAG_NULLABLE;
    schema.release = [](ArrowSchema* self) { self->release = nullptr; };
    array.private_data = &releases;
    array.release = [](ArrowArray* self) {
      ++*static_cast<int*>(self->private_data);
      self->release = nullptr;
    };
  }
  void set(int64_t length, int64_t offset, std::vector<const void*> data) {
    buffers = std::move(data);
    array.length = length;
    array.offset = offset;
    array.null_count = -1;
    array.n_buffers = static_cast<int64_t>(buffers.size());
    array.buffers = buffers.data();
  }
  ArrowSchema schema{};
  ArrowArray array{};
  std::vector<const void*> buffers;
  int releases = 0;
};

TEST(ArrowRoundTrip, EveryLayoutComesBackAtTheSameAddresses) {
  RandomColumns random(4);
  for (const DataTypePtr& type : all_layouts()) {
    for (int round = 0; round < 10; ++round) {
      const Column column = random.make(type, random.below(70), round % 2 == 0);
      ArrowSchema schema{};
      ArrowArray array{};
      ASSERT_TRUE(export_type(*type, "x", &schema).is_ok());
      ASSERT_TRUE(export_column(column, &array).is_ok());
      const auto imported = import_column(&array, schema);
      ASSERT_TRUE(imported.is_ok()) << imported.status().message();
      EXPECT_EQ(array.release, nullptr);
      EXPECT_TRUE(imported.value().type->equals(*type)) << type->to_string();
      EXPECT_EQ(imported.value().values.data, column.values.data);
      EXPECT_EQ(imported.value().offsets.data, column.offsets.data);
      EXPECT_EQ(render_all(imported.value()), render_all(column)) << type->to_string();
      schema.release(&schema);
    }
  }
}

TEST(ArrowRoundTrip, SchemaKeepsMetadataNullabilityAndFlags) {
  Field detailed{"m", flat_type("tsu:UTC"), false, with_metadata("", "unit", "s"),
                 ARROW_FLAG_MAP_KEYS_SORTED};
  const Schema schema({std::make_shared<const Field>(detailed), field("n", int64())},
                      with_metadata("", "pandas", "{}"));
  ArrowSchema exported{};
  ASSERT_TRUE(export_schema(schema, &exported).is_ok());
  const SchemaPtr imported = import_schema(exported).value();
  exported.release(&exported);
  EXPECT_TRUE(imported->equals(schema));
  EXPECT_FALSE(imported->field(0).nullable);
  EXPECT_TRUE(imported->field(1).nullable);
  EXPECT_EQ(imported->field(0).metadata, detailed.metadata);
  EXPECT_EQ(imported->field(0).flags, ARROW_FLAG_MAP_KEYS_SORTED);
  EXPECT_EQ(imported->metadata(), schema.metadata());
}

TEST(ArrowImport, OwnerIsReleasedWithTheLastSlice) {
  const int64_t values[] = {1, 2, 3, 4};
  Produced produced("l");
  produced.set(4, 0, {nullptr, values});
  {
    Column slice;
    {
      const Column column = import_column(&produced.array, produced.schema).value();
      slice = column.slice(1, 2);
    }
    EXPECT_EQ(produced.releases, 0);
    EXPECT_EQ(slice.data<int64_t>()[0], 2);
  }
  EXPECT_EQ(produced.releases, 1);
}

TEST(ArrowImport, FailureReleasesToo) {
  Produced produced("l");
  produced.set(4, 0, {nullptr});
  EXPECT_FALSE(import_column(&produced.array, produced.schema).is_ok());
  EXPECT_EQ(produced.releases, 1);
}

TEST(ArrowImport, NullBitsBeginAtTheOffset) {
  const int32_t values[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  const uint8_t validity[] = {0b10101000, 0b00000010};  // valid: 3, 5, 7, 9
  Produced produced("i");
  produced.set(7, 3, {validity, values});
  const Column column = import_column(&produced.array, produced.schema).value();
  EXPECT_EQ(column.count_nulls(), 3);
  for (int64_t i = 0; i < 7; ++i) {
    EXPECT_EQ(column.is_valid(i), i % 2 == 0);
    EXPECT_EQ(column.data<int32_t>()[i], i + 3);
  }
}

TEST(ArrowImport, EmptyArraysMayComeWithoutBuffers) {
  for (const char* format : {"u", "Z", "l", "b", "w:4"}) {
    Produced produced(format);
    produced.set(0, 5, {nullptr, nullptr, nullptr});
    const auto column = import_column(&produced.array, produced.schema);
    ASSERT_TRUE(column.is_ok()) << format;
    EXPECT_EQ(concatenate({column.value(), column.value()}).value().length, 0);
    EXPECT_EQ(take(column.value(), nullptr, 0).value().length, 0);
  }
}

TEST(ArrowImport, UnalignedValuesAreCopied) {
  alignas(8) char bytes[33] = {};
  const int64_t values[] = {7, 8, 9};
  std::memcpy(bytes + 1, values, sizeof(values));
  Produced produced("l");
  produced.set(3, 0, {nullptr, bytes + 1});
  const Column column = import_column(&produced.array, produced.schema).value();
  EXPECT_EQ(column.data<int64_t>()[2], 9);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(column.values.data) % 8, 0U);
}

// Dictionary ["a", "bc", null] with the given indices.
struct ProducedDictionary : Produced {
  explicit ProducedDictionary(const char* index_format) : Produced(index_format), values("u") {
    values.set(3, 0, {value_validity, offsets, bytes});
    schema.dictionary = &values.schema;
    array.dictionary = &values.array;
  }
  const uint8_t value_validity[1] = {0b011};
  const int32_t offsets[4] = {0, 1, 3, 3};
  const char bytes[4] = "abc";
  Produced values;
};

TEST(ArrowImport, DictionaryIsDecoded) {
  const int8_t indices[] = {99, 1, 0, 2, 0, 1};
  const uint8_t validity[] = {0b101110};
  ProducedDictionary produced("c");
  produced.set(5, 1, {validity, indices});
  EXPECT_EQ(import_type(produced.schema).value()->id, TypeId::kUtf8);
  const Column column = import_column(&produced.array, produced.schema).value();
  EXPECT_EQ(render_all(column), (std::vector<std::string>{"'bc'", "'a'", "null", "null", "'bc'"}));
  EXPECT_EQ(column.null_count, 2);
}

TEST(ArrowImport, DictionaryIndexOutsideIsRefused) {
  const uint16_t indices[] = {3};
  ProducedDictionary produced("S");
  produced.set(1, 0, {nullptr, indices});
  const auto column = import_column(&produced.array, produced.schema);
  EXPECT_EQ(column.status().code(), StatusCode::kInvalidArgument);
}

TEST(ArrowImport, ViewsBecomeLargeStrings) {
  struct View {
    int32_t size;
    char prefix[4];
    int32_t buffer;
    int32_t offset;
  };
  const char data[] = "..a string of more than twelve bytes";
  View views[3] = {};
  views[0].size = 2;
  std::memcpy(views[0].prefix, "hi", 2);
  views[1] = {34, {'a', ' ', 's', 't'}, 0, 2};
  const uint8_t validity[] = {0b011};
  const int64_t sizes[] = {36};
  Produced produced("vu");
  produced.set(3, 0, {validity, views, data, sizes});
  const Column column = import_column(&produced.array, produced.schema).value();
  EXPECT_EQ(column.type->id, TypeId::kLargeUtf8);
  EXPECT_EQ(render_all(column),
            (std::vector<std::string>{"'hi'", "'a string of more than twelve bytes'", "null"}));
}

TEST(ArrowImport, OffsetOfTheStructAppliesToItsColumns) {
  const int64_t values[] = {0, 1, 2, 3, 4, 5};
  Produced child("l");
  child.set(5, 1, {nullptr, values});
  Produced root("+s");
  root.set(2, 2, {nullptr});
  ArrowSchema* child_schema = &child.schema;
  ArrowArray* child_array = &child.array;
  root.schema.n_children = root.array.n_children = 1;
  root.schema.children = &child_schema;
  root.array.children = &child_array;
  const Batch batch = import_batch(&root.array, root.schema).value();
  EXPECT_EQ(batch.num_rows, 2);
  EXPECT_EQ(batch.columns[0].data<int64_t>()[0], 3);
}

TEST(ArrowImport, OnlyStructsAreBatches) {
  const int64_t values[] = {1};
  Produced produced("l");
  produced.set(1, 0, {nullptr, values});
  const auto batch = import_batch(&produced.array, produced.schema);
  EXPECT_EQ(batch.status().code(), StatusCode::kTypeError);
  EXPECT_NE(batch.status().message().find("int64"), std::string::npos);
  EXPECT_EQ(produced.releases, 1);
}

TEST(ArrowImport, ErrorsNameTheColumn) {
  Produced child("+r");
  Produced root("+s");
  ArrowSchema* child_schema = &child.schema;
  root.schema.n_children = 1;
  root.schema.children = &child_schema;
  const auto schema = import_schema(root.schema);
  EXPECT_EQ(schema.status().code(), StatusCode::kNotSupported);
  EXPECT_NE(schema.status().message().find("column 'x': run-end encoded"), std::string::npos);
}

}  // namespace
}  // namespace penstock
