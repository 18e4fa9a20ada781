#include "gguf/quantize_mix.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace smol::gguf {
namespace {

TypeChoice choose(QuantizeType type, std::string_view name, std::vector<std::size_t> shape) {
  return choose_type(type, {name, DType::F32, std::move(shape), {}}, 36);
}

TEST(QuantizeMix, GivesMoreBitsToTheLayersOfThe36LayerModel) {
  std::vector<std::size_t> layers;
  for (std::size_t layer = 0; layer < 36; ++layer) {
    if (uses_more_bits(layer, 36)) {
      layers.push_back(layer);
    }
  }
  EXPECT_EQ(layers, (std::vector<std::size_t>{0, 1, 2, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 31, 32,
                                              33, 34, 35}));
}

TEST(QuantizeMix, MixesQ6KIntoQ4KM) {
  constexpr auto kMix = QuantizeType::Q4_K_M;
  EXPECT_EQ(choose(kMix, "token_embd.weight", {512, 256}).dtype, DType::Q6_K);
  EXPECT_EQ(choose(kMix, "output.weight", {512, 256}).dtype, DType::Q6_K);
  EXPECT_EQ(choose(kMix, "blk.6.attn_v.weight", {512, 256}).dtype, DType::Q6_K);
  EXPECT_EQ(choose(kMix, "blk.35.ffn_down.weight", {512, 256}).dtype, DType::Q6_K);
  EXPECT_EQ(choose(kMix, "blk.7.attn_v.weight", {512, 256}).dtype, DType::Q4_K);
  EXPECT_EQ(choose(kMix, "blk.6.ffn_up.weight", {512, 256}).dtype, DType::Q4_K);
}

TEST(QuantizeMix, KeepsVectorsInFloat) {
  const TypeChoice choice = choose(QuantizeType::Q8_0, "blk.0.attn_norm.weight", {256});
  EXPECT_EQ(choice.dtype, DType::F32);
  EXPECT_FALSE(choice.fell_back);
}

TEST(QuantizeMix, FallsBackToQ80WhereRowsAreNoMultipleOf256) {
  const TypeChoice choice = choose(QuantizeType::Q4_K_M, "blk.0.attn_q.weight", {256, 96});
  EXPECT_EQ(choice.dtype, DType::Q8_0);
  EXPECT_TRUE(choice.fell_back);
}

TEST(QuantizeMix, KeepsMatricesWhoseRowsFitNoBlock) {
  const TypeChoice choice = choose(QuantizeType::Q8_0, "blk.0.attn_q.weight", {256, 40});
  EXPECT_EQ(choice.dtype, DType::F32);
  EXPECT_TRUE(choice.fell_back);
}

TEST(QuantizeMix, KnowsItsTypesByNameInAnyCase) {
  EXPECT_EQ(quantize_type_from_name("q4_k_m"), QuantizeType::Q4_K_M);
  EXPECT_EQ(quantize_type_from_name("Q8_0"), QuantizeType::Q8_0);
  EXPECT_EQ(quantize_type_from_name("Q9"), std::nullopt);
  EXPECT_EQ(file_type_id(QuantizeType::Q4_K_M), 15U);
}

}  // namespace
}  // namespace smol::gguf
