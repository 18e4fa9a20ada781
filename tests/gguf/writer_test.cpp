#include "gguf/writer.h"

#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"
#include "gguf/file.h"
#include "support/demo_model.h"
#include "support/temp_folder.h"

namespace smol::gguf {
namespace {

std::span<const std::byte> bytes_of(const std::vector<float>& values) {
  return std::as_bytes(std::span(values));
}

TEST(GgufWriter, WritesWhatTheReaderReads) {
  const test::TempFolder folder;
  const auto path = folder.path() / "out.gguf";
  const std::vector<Metadata::Entry> metadata{
      {"u8", std::uint8_t{1}},
      {"i8", std::int8_t{-1}},
      {"u16", std::uint16_t{2}},
      {"i16", std::int16_t{-2}},
      {"u32", std::uint32_t{3}},
      {"i32", std::int32_t{-3}},
      {"f32", 0.5F},
      {"bool", true},
      {"string", std::string_view("text\n")},
      {"strings", Array(std::vector<std::string_view>{"a", "", "\xFF"})},
      {"flags", Array(std::vector<bool>{true, false})},
      {"f64s", Array(std::vector<double>{0.25})},
      {"u64", std::uint64_t{4}},
      {"i64", std::int64_t{-4}},
      {"f64", 0.125}};
  Writer writer(path, metadata,
                {{"matrix", DType::F32, {3, 1}}, {"empty.name", DType::F32, {2, 1, 1, 2}}});
  const std::vector<float> first{1.0F, 2.0F, 3.0F};
  const std::vector<float> second{4.0F, 5.0F, 6.0F, 7.0F};
  writer.append(bytes_of(first).first(4));
  writer.append(bytes_of(first).subspan(4));
  writer.append(bytes_of(second));
  writer.finish();

  const File file = File::open(path);
  ASSERT_EQ(file.metadata().entries().size(), metadata.size());
  for (std::size_t i = 0; i < metadata.size(); ++i) {
    EXPECT_EQ(file.metadata().entries()[i], metadata[i]) << metadata[i].first;
  }
  EXPECT_EQ(file.tensor("matrix").shape, (std::vector<std::size_t>{3, 1}));
  const TensorView& view = file.tensor("empty.name");
  EXPECT_EQ(view.shape, (std::vector<std::size_t>{2, 1, 1, 2}));
  EXPECT_EQ(std::memcmp(view.bytes.data(), second.data(), view.bytes.size()), 0);
}

TEST(GgufWriter, CopiesTheDemoModelByteForByte) {
  const File original = File::open(test::kDemoModel);
  const test::TempFolder folder;
  std::vector<TensorSpec> specs;
  for (const TensorView& tensor : original.tensors()) {
    specs.push_back({std::string(tensor.name), tensor.dtype, tensor.shape});
  }
  Writer writer(folder.path() / "copy.gguf", original.metadata().entries(), specs);
  for (const TensorView& tensor : original.tensors()) {
    writer.append(tensor.bytes);
  }
  writer.finish();
  const MappedFile a(test::kDemoModel);
  const MappedFile b(folder.path() / "copy.gguf");
  ASSERT_EQ(a.bytes().size(), b.bytes().size());
  EXPECT_EQ(std::memcmp(a.bytes().data(), b.bytes().data(), a.bytes().size()), 0);
}

TEST(GgufWriter, LeavesNothingBehindWhenItIsNotFinished) {
  const test::TempFolder folder;
  {
    const Writer writer(folder.path() / "out.gguf", {}, {});
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "out.gguf"));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(GgufWriter, ReportsAFolderThatIsNotThere) {
  EXPECT_THROW(Writer("/nonexistent/out.gguf", {}, {}), Error);
}

}  // namespace
}  // namespace smol::gguf
