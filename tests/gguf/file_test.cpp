#include "gguf/file.h"

#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"
#include "support/demo_model.h"
#include "support/raw_gguf.h"

namespace smol::gguf {
namespace {

using test::raw;
using test::raw_array;
using test::raw_pair;
using test::raw_string;
using test::raw_tensor;
using test::RawGguf;

File parse(const std::string& bytes) {
  return File::parse(std::as_bytes(std::span(bytes)), "test.gguf");
}

TEST(GgufFile, OpensTheDemoModel) {
  const File file = File::open(test::kDemoModel);
  EXPECT_EQ(file.version(), 3U);
  EXPECT_EQ(file.name(), test::kDemoModel);
  EXPECT_EQ(file.size_bytes(), std::filesystem::file_size(test::kDemoModel));
  EXPECT_EQ(file.metadata().string("general.architecture"), "smollm3");
  EXPECT_EQ(file.tensors().size(), 74U);
  const TensorView& embedding = file.tensor("token_embd.weight");
  EXPECT_EQ(embedding.shape, (std::vector<std::size_t>{4352, 256}));
  EXPECT_EQ(embedding.dtype, DType::Q8_0);
  EXPECT_EQ(embedding.bytes.size(), embedding.n_rows() * embedding.row_bytes());
}

TEST(GgufFile, ViewsStayValidWhenTheFileMoves) {
  File file = File::open(test::kDemoModel);
  const TensorView* norm = file.find("output_norm.weight");
  const File moved = std::move(file);
  ASSERT_EQ(moved.find("output_norm.weight"), norm);
  EXPECT_EQ(norm->name, "output_norm.weight");
}

TEST(GgufFile, ReadsVersionTwo) {
  RawGguf raw_file;
  raw_file.version = 2;
  const std::string bytes = raw_file.bytes();
  EXPECT_EQ(parse(bytes).version(), 2U);
}

TEST(GgufFile, MayHoldNoTensorsAndEndBeforeTheAlignedData) {
  RawGguf raw_file;
  raw_file.pairs = {raw_pair("a", 8, raw_string("b"))};
  raw_file.alignment = 1;
  const std::string bytes = raw_file.bytes();
  EXPECT_TRUE(parse(bytes).tensors().empty());
}

TEST(GgufFile, ReadsTensorsOutOfOrderWithGapsBetweenThem) {
  RawGguf raw_file;
  raw_file.tensors = {raw_tensor("late", {2}, 0, 96), raw_tensor("early", {2}, 0, 0)};
  raw_file.data = std::string(104, '\0');
  raw_file.data[96] = 'L';
  const std::string bytes = raw_file.bytes();
  const File file = parse(bytes);
  EXPECT_EQ(file.tensors()[0].name, "late");
  EXPECT_EQ(file.tensor("late").bytes[0], std::byte{'L'});
}

TEST(GgufFile, FollowsTheAlignmentOfItsMetadata) {
  RawGguf raw_file;
  raw_file.pairs = {raw_pair("general.alignment", 4, raw(std::uint32_t{64}))};
  raw_file.alignment = 64;
  raw_file.tensors = {raw_tensor("a", {1}, 0, 0), raw_tensor("b", {1}, 0, 64)};
  raw_file.data = std::string(68, '\0');
  raw_file.data[64] = 'B';
  const std::string bytes = raw_file.bytes();
  const File file = parse(bytes);
  EXPECT_EQ(file.alignment(), 64U);
  EXPECT_EQ(file.tensor("b").bytes[0], std::byte{'B'});
}

TEST(GgufFile, NamesTheTensorThatIsMissing) {
  const File file = File::open(test::kDemoModel);
  EXPECT_EQ(file.find("nothing"), nullptr);
  try {
    file.tensor("blk.9.attn_q.weight");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("blk.9.attn_q.weight"), std::string::npos);
  }
}

TEST(GgufFile, SaysThatThereIsNoSuchFile) {
  try {
    File::open("/nonexistent/model.gguf");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::NotFound);
  }
}

TEST(Metadata, ReadsEveryIntegerWidthWhereTheValueFits) {
  RawGguf raw_file;
  raw_file.pairs = {raw_pair("u8", 0, raw(std::uint8_t{200})),
                    raw_pair("i8", 1, raw(std::int8_t{-5})),
                    raw_pair("u64", 10, raw(std::uint64_t{1} << 63U)),
                    raw_pair("i64", 11, raw(std::int64_t{-7}))};
  const std::string bytes = raw_file.bytes();
  const File file = parse(bytes);
  const Metadata& metadata = file.metadata();
  EXPECT_EQ(metadata.unsigned_integer("u8"), 200U);
  EXPECT_EQ(metadata.integer("i8"), -5);
  EXPECT_EQ(metadata.number("i64"), -7.0);
  EXPECT_EQ(metadata.unsigned_integer("u64"), std::uint64_t{1} << 63U);
  EXPECT_THROW(metadata.unsigned_integer("i8"), Error);
  EXPECT_THROW(metadata.integer("u64"), Error);
  EXPECT_EQ(metadata.integer("absent"), std::nullopt);
}

TEST(Metadata, ReadsNumbersOfBothFloatWidths) {
  RawGguf raw_file;
  raw_file.pairs = {raw_pair("f32", 6, raw(1.5F)), raw_pair("f64", 12, raw(2.5)),
                    raw_pair("bool", 7, std::string(1, '\1'))};
  const std::string bytes = raw_file.bytes();
  const File file = parse(bytes);
  EXPECT_EQ(file.metadata().number("f32"), 1.5);
  EXPECT_EQ(file.metadata().number("f64"), 2.5);
  EXPECT_THROW(file.metadata().number("bool"), Error);
  EXPECT_EQ(file.metadata().boolean("bool"), true);
  EXPECT_THROW(file.metadata().integer("f32"), Error);
}

TEST(Metadata, ReadsArrays) {
  RawGguf raw_file;
  raw_file.pairs = {raw_array("words", 8, 2, raw_string("a") + raw_string("")),
                    raw_array("small", 1, 2, "\xFF\x02"), raw_array("floats", 6, 1, raw(0.5F)),
                    raw_array("flags", 7, 2, std::string("\1\0", 2))};
  const std::string bytes = raw_file.bytes();
  const File file = parse(bytes);
  const Metadata& metadata = file.metadata();
  const auto words = metadata.strings("words");
  ASSERT_TRUE(words.has_value());
  EXPECT_EQ(std::vector<std::string_view>(words->begin(), words->end()),
            (std::vector<std::string_view>{"a", ""}));
  EXPECT_EQ(metadata.integers("small"), (std::vector<std::int64_t>{-1, 2}));
  EXPECT_EQ(metadata.numbers("floats"), (std::vector<double>{0.5}));
  EXPECT_EQ(metadata.numbers("small"), (std::vector<double>{-1.0, 2.0}));
  EXPECT_THROW(metadata.integers("floats"), Error);
  EXPECT_THROW(metadata.integers("flags"), Error);
  EXPECT_THROW(metadata.strings("small"), Error);
  EXPECT_EQ(type_name(*metadata.find("flags")), "array of bool");
}

TEST(Metadata, NamesFileKeyExpectedAndFoundType) {
  RawGguf raw_file;
  raw_file.pairs = {raw_pair("llama.block_count", 8, raw_string("six\n"))};
  const std::string bytes = raw_file.bytes();
  const File file = parse(bytes);
  try {
    static_cast<void>(file.metadata().unsigned_integer("llama.block_count"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "test.gguf: llama.block_count: expected a non-negative integer, found string "
                 "\"six\\n\"");
  }
}

}  // namespace
}  // namespace smol::gguf
