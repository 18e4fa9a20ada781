#include "model/weights.h"

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "gguf/dequantize.h"
#include "kernels/panel.h"
#include "support/temp_folder.h"
#include "support/tiny_model.h"

namespace smol::model {
namespace {

using test::TinyFile;
using test::TinyModel;
using test::TinySpec;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Weights weights_of(const TinyFile& tiny) {
  ThreadPool pool(2);
  return {tiny.file(), ModelConfig::from_gguf(tiny.file(), std::nullopt), pool};
}

std::string weights_error(const TinyModel& model, ErrorCode code) {
  const TinyFile tiny(model);
  try {
    weights_of(tiny);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  return "";
}

std::vector<float> row_of(const kernels::Matrix& matrix, std::size_t row) {
  std::vector<float> values(matrix.n_cols);
  kernels::gather_row(matrix, row, values);
  return values;
}

std::vector<float> row_of(const gguf::TensorView& tensor, std::size_t row) {
  std::vector<float> values(tensor.n_cols());
  gguf::dequantize(tensor.dtype, tensor.bytes.subspan(row * tensor.row_bytes(), tensor.row_bytes()),
                   values);
  return values;
}

TEST(Weights, HoldTheFilesMatricesInRowsAndInPanels) {
  for (const gguf::DType dtype : {gguf::DType::F32, gguf::DType::Q8_0}) {
    TinySpec spec;
    spec.dtype = dtype;
    const TinyFile tiny(spec);
    const Weights weights = weights_of(tiny);
    ASSERT_EQ(weights.layers().size(), 4U);
    const kernels::Matrix& matrix = weights.layers()[2].w_up;
    EXPECT_EQ(matrix.dtype, dtype);
    EXPECT_EQ(matrix.n_rows, 96U);
    EXPECT_EQ(matrix.n_cols, 64U);
    for (std::size_t row = 0; row < 96; ++row) {
      EXPECT_EQ(row_of(matrix, row), row_of(tiny.file().tensor("blk.2.ffn_up.weight"), row));
    }
    EXPECT_EQ(row_of(weights.token_embd(), 39),
              row_of(tiny.file().tensor("token_embd.weight"), 39));
  }
}

TEST(Weights, OfAFileOnDiskAreThoseOfTheSameBytesInMemory) {
  TinySpec spec;
  spec.dtype = gguf::DType::Q8_0;
  const TinyFile tiny(spec);
  const test::TempFolder folder;
  const auto path = folder.path() / "model.gguf";
  const std::vector<std::byte> bytes = TinyModel(spec).bytes();
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  const gguf::File file = gguf::File::open(path);
  ThreadPool pool(3);
  const Weights from_disk(file, ModelConfig::from_gguf(file, std::nullopt), pool);
  const Weights in_memory = weights_of(tiny);
  const auto expected = in_memory.bytes();
  const auto found = from_disk.bytes();
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), found.begin(), found.end()));
}

TEST(Weights, ReportWhatLoadingTook) {
  const TinyFile tiny{TinySpec{}};
  const Weights weights = weights_of(tiny);
  EXPECT_EQ(weights.load_report().bytes, weights.bytes().size());
  EXPECT_LE(weights.load_report().huge_page_bytes, weights.bytes().size());
}

TEST(Weights, UnderAnotherConfigurationShareTheMatrices) {
  const TinyFile tiny{TinySpec{}};
  const Weights weights = weights_of(tiny);
  ModelConfig config = weights.config();
  config.rope.pairs = RopePairs::Halves;
  const Weights other = weights.with_config(config);
  EXPECT_EQ(other.config().rope.pairs, RopePairs::Halves);
  EXPECT_EQ(other.token_embd().data, weights.token_embd().data);
}

TEST(Weights, OutputIsTheEmbeddingWhereTheFileHasNone) {
  const TinyFile tiny{TinySpec{}};
  const Weights weights = weights_of(tiny);
  EXPECT_EQ(weights.output().data, weights.token_embd().data);
}

TEST(Weights, OutputIsTheFilesWhereItHasOne) {
  TinySpec spec;
  spec.is_tied = false;
  const TinyFile tiny(spec);
  const Weights weights = weights_of(tiny);
  EXPECT_NE(weights.output().data, weights.token_embd().data);
  EXPECT_EQ(row_of(weights.output(), 7), row_of(tiny.file().tensor("output.weight"), 7));
}

TEST(Weights, RefuseAnotherShapeNamingBoth) {
  TinyModel model({});
  model.erase_tensor("blk.3.attn_k.weight");
  model.add_tensor("blk.3.attn_k.weight", {64, 32});
  EXPECT_THAT(weights_error(model, ErrorCode::BadInput),
              HasSubstr("blk.3.attn_k.weight: expected [64, 64], found [64, 32]"));
}

TEST(Weights, RefuseAMissingTensorByName) {
  TinyModel model({});
  model.erase_tensor("blk.1.ffn_norm.weight");
  EXPECT_THAT(weights_error(model, ErrorCode::BadInput),
              HasSubstr("blk.1.ffn_norm.weight: expected [64], found no such tensor"));
}

TEST(Weights, RefuseANormThatIsQuantized) {
  TinyModel model({});
  test::TinyTensor& norm = model.tensor("blk.0.attn_norm.weight");
  norm.dtype = gguf::DType::Q8_0;
  norm.bytes.resize(68);
  EXPECT_THAT(weights_error(model, ErrorCode::Unsupported),
              HasSubstr("blk.0.attn_norm.weight: expected F32, found Q8_0"));
}

TEST(Weights, RefuseATensorThatWouldHaveToBeIgnored) {
  TinyModel biased({});
  biased.add_tensor("blk.0.attn_q.bias", {128});
  EXPECT_THAT(weights_error(biased, ErrorCode::Unsupported), HasSubstr("blk.0.attn_q.bias"));
  TinyModel deeper({});
  deeper.add_tensor("blk.4.attn_norm.weight", {64});
  EXPECT_THAT(weights_error(deeper, ErrorCode::Unsupported), HasSubstr("blk.4.attn_norm.weight"));
}

TEST(Weights, ListTensorsOutsideTheLayersThatTakeNoPart) {
  TinyModel model({});
  model.add_tensor("vision.patch.weight", {4});
  const TinyFile tiny(model);
  EXPECT_THAT(weights_of(tiny).unused(), ElementsAre("vision.patch.weight"));
}

}  // namespace
}  // namespace smol::model
