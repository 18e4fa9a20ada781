#include "app/quantize.h"

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"
#include "gguf/dequantize.h"
#include "gguf/file.h"
#include "gguf/half.h"
#include "gguf/writer.h"
#include "support/demo_model.h"
#include "support/temp_folder.h"

namespace smol::app {
namespace {

using gguf::DType;
using gguf::File;
using gguf::TensorSpec;

constexpr std::size_t kRows = 24;

float value_at(std::size_t i) {
  return std::sin(0.37F * static_cast<float>(i));
}

void append_values(gguf::Writer& writer, std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = value_at(i);
  }
  writer.append(std::as_bytes(std::span(values)));
}

// A model's tensors with rows of 256, one with rows of 96, one vector in F16.
std::filesystem::path write_model(const test::TempFolder& folder) {
  auto path = folder.path() / "f32.gguf";
  const std::vector<gguf::Metadata::Entry> metadata{
      {"general.architecture", std::string_view("llama")},
      {"llama.block_count", std::uint32_t{8}},
      {"general.file_type", std::uint32_t{0}}};
  gguf::Writer writer(path, metadata,
                      {{"token_embd.weight", DType::F32, {kRows, 256}},
                       {"blk.1.attn_v.weight", DType::F32, {kRows, 256}},
                       {"blk.2.attn_v.weight", DType::F32, {kRows, 256}},
                       {"blk.2.attn_q.weight", DType::F32, {kRows, 96}},
                       {"output_norm.weight", DType::F16, {4}}});
  for (int i = 0; i < 3; ++i) {
    append_values(writer, kRows * 256);
  }
  append_values(writer, kRows * 96);
  const std::vector<std::uint16_t> norm(4, gguf::f32_to_f16(1.5F));
  writer.append(std::as_bytes(std::span(norm)));
  writer.finish();
  return path;
}

QuantizeOptions options_for(const test::TempFolder& folder, const std::string& type) {
  return {folder.path() / "f32.gguf", folder.path() / "out.gguf", type, 2};
}

std::vector<float> values_of(const gguf::TensorView& tensor) {
  std::vector<float> values(tensor.n_rows() * tensor.n_cols());
  gguf::dequantize(tensor.dtype, tensor.bytes, values);
  return values;
}

TEST(Quantize, WritesTheMixWithItsFileType) {
  const test::TempFolder folder;
  write_model(folder);
  std::ostringstream out;
  EXPECT_EQ(run_quantize(options_for(folder, "q4_k_m"), out), 0);
  const File file = File::open(folder.path() / "out.gguf");
  EXPECT_EQ(file.tensor("token_embd.weight").dtype, DType::Q6_K);
  EXPECT_EQ(file.tensor("blk.1.attn_v.weight").dtype, DType::Q4_K);
  EXPECT_EQ(file.tensor("blk.2.attn_q.weight").dtype, DType::Q8_0);
  EXPECT_EQ(file.tensor("output_norm.weight").dtype, DType::F32);
  EXPECT_EQ(values_of(file.tensor("output_norm.weight")), std::vector<float>(4, 1.5F));
  EXPECT_EQ(file.metadata().unsigned_integer("general.file_type"), 15U);
  EXPECT_EQ(file.metadata().unsigned_integer("general.quantization_version"), 2U);
  EXPECT_EQ(file.metadata().string("general.architecture"), "llama");
}

TEST(Quantize, SaysWhichTensorsGotAnotherType) {
  const test::TempFolder folder;
  write_model(folder);
  std::ostringstream out;
  run_quantize(options_for(folder, "Q6_K"), out);
  EXPECT_NE(out.str().find("blk.2.attn_q.weight: rows of 96 are no multiple of the block, so it "
                           "is Q8_0\n"),
            std::string::npos)
      << out.str();
}

TEST(Quantize, KeepsValuesCloseForEveryType) {
  const test::TempFolder folder;
  write_model(folder);
  for (const char* type : {"Q8_0", "Q6_K", "Q4_0", "Q4_K"}) {
    std::ostringstream out;
    QuantizeOptions options = options_for(folder, type);
    options.force = true;
    run_quantize(options, out);
    const File file = File::open(folder.path() / "out.gguf");
    const std::vector<float> values = values_of(file.tensor("blk.1.attn_v.weight"));
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_NEAR(values[i], value_at(i), 0.09F) << type << " element " << i;
    }
  }
}

TEST(Quantize, WritesTheSameBytesWithAnyNumberOfThreads) {
  const test::TempFolder folder;
  write_model(folder);
  QuantizeOptions options = options_for(folder, "Q4_K");
  std::ostringstream out;
  options.n_threads = 1;
  run_quantize(options, out);
  options.n_threads = 3;
  options.output = folder.path() / "other.gguf";
  run_quantize(options, out);
  const File a = File::open(folder.path() / "out.gguf");
  const File b = File::open(options.output);
  for (const gguf::TensorView& tensor : a.tensors()) {
    const auto other = b.tensor(tensor.name).bytes;
    EXPECT_TRUE(std::equal(tensor.bytes.begin(), tensor.bytes.end(), other.begin(), other.end()));
  }
}

TEST(Quantize, ReportsProgressUpToAllBytes) {
  const test::TempFolder folder;
  write_model(folder);
  std::ostringstream out;
  std::uint64_t last = 0;
  std::uint64_t total = 1;
  run_quantize(options_for(folder, "Q8_0"), out, [&](std::uint64_t done, std::uint64_t all) {
    EXPECT_GE(done, last);
    last = done;
    total = all;
  });
  EXPECT_EQ(last, total);
}

void expect_refused(const QuantizeOptions& options, ErrorCode code, const std::string& words) {
  std::ostringstream out;
  try {
    run_quantize(options, out);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
  }
}

TEST(Quantize, RefusesAnUnknownType) {
  const test::TempFolder folder;
  write_model(folder);
  expect_refused(options_for(folder, "Q3"), ErrorCode::BadInput,
                 "--type: expected one of Q8_0, Q4_0, Q4_K, Q6_K, Q4_K_M, found \"Q3\"");
}

TEST(Quantize, RefusesAnInputThatIsQuantizedAlready) {
  const test::TempFolder folder;
  QuantizeOptions options = options_for(folder, "Q4_K");
  options.input = test::kDemoModel;
  expect_refused(options, ErrorCode::Unsupported, "expected F32, F16 or BF16, found Q8_0");
  EXPECT_FALSE(std::filesystem::exists(options.output));
}

TEST(Quantize, RefusesToWriteOverItsInput) {
  const test::TempFolder folder;
  QuantizeOptions options = options_for(folder, "Q4_K");
  options.output = write_model(folder);
  expect_refused(options, ErrorCode::BadInput, "found the same");
}

TEST(Quantize, RefusesValuesThatAreNotFiniteAndLeavesNoFile) {
  const test::TempFolder folder;
  const auto path = folder.path() / "f32.gguf";
  gguf::Writer writer(path, {}, {{"m.weight", DType::F32, {3, 32}}});
  std::vector<float> values(96, 1.0F);
  values[70] = std::numeric_limits<float>::infinity();
  writer.append(std::as_bytes(std::span(values)));
  writer.finish();
  expect_refused(options_for(folder, "Q8_0"), ErrorCode::BadInput,
                 "tensor \"m.weight\": expected finite values, found an infinity or NaN in row 2");
  const std::filesystem::directory_iterator files{folder.path()};
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
}

TEST(Quantize, ReplacesAnEarlierFileOnlyWhenToldTo) {
  const test::TempFolder folder;
  write_model(folder);
  QuantizeOptions options = options_for(folder, "Q8_0");
  std::ofstream(options.output) << "precious";
  expect_refused(options, ErrorCode::BadInput,
                 "out.gguf: expected no file there (--force replaces it), found one");
  EXPECT_EQ(std::filesystem::file_size(options.output), 8U);
  options.force = true;
  std::ostringstream out;
  EXPECT_EQ(run_quantize(options, out), 0);
  EXPECT_GT(std::filesystem::file_size(options.output), 8U);
}

TEST(Quantize, LeavesANeighbourNamedPartAlone) {
  const test::TempFolder folder;
  QuantizeOptions options = options_for(folder, "Q8_0");
  options.input = folder.path() / "out.gguf.part";
  std::filesystem::rename(write_model(folder), options.input);
  const auto size = std::filesystem::file_size(options.input);
  std::ostringstream out;
  EXPECT_EQ(run_quantize(options, out), 0);
  EXPECT_EQ(std::filesystem::file_size(options.input), size);
}

}  // namespace
}  // namespace smol::app
