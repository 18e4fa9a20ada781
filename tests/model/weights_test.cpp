#include "model/weights.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "support/tiny_model.h"

namespace smol::model {
namespace {

using test::TinyFile;
using test::TinyModel;
using test::TinySpec;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Weights weights_of(const TinyFile& tiny) {
  return {tiny.file(), ModelConfig::from_gguf(tiny.file(), std::nullopt)};
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

TEST(Weights, StayInTheFilesBytes) {
  const TinyFile tiny{TinySpec{}};
  const Weights weights = weights_of(tiny);
  ASSERT_EQ(weights.layers().size(), 4U);
  EXPECT_EQ(weights.layers()[2].w_up.data, tiny.file().tensor("blk.2.ffn_up.weight").bytes.data());
  EXPECT_EQ(weights.layers()[2].w_up.n_rows, 96U);
  EXPECT_EQ(weights.layers()[2].w_up.n_cols, 64U);
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
  EXPECT_EQ(weights.output().data, tiny.file().tensor("output.weight").bytes.data());
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
