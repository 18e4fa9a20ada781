#include "model/config.h"

#include <cmath>
#include <limits>
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

ModelConfig config_of(const TinyModel& model, std::optional<std::size_t> context = std::nullopt) {
  return ModelConfig::from_gguf(TinyFile(model).file(), context);
}

TinySpec llama() {
  TinySpec spec;
  spec.architecture = "llama";
  return spec;
}

// The message of the Error that reading the model throws; "" if it throws none.
std::string config_error(const TinyModel& model, ErrorCode code,
                         std::optional<std::size_t> context = std::nullopt) {
  try {
    config_of(model, context);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  return "";
}

TEST(ModelConfig, ReadsTheHyperparameters) {
  const ModelConfig config = config_of(TinyModel({}));
  EXPECT_EQ(config.architecture, "smollm3");
  EXPECT_EQ(config.n_layers, 4U);
  EXPECT_EQ(config.d_model, 64U);
  EXPECT_EQ(config.d_ff, 96U);
  EXPECT_EQ(config.n_heads, 4U);
  EXPECT_EQ(config.n_kv_heads, 2U);
  EXPECT_EQ(config.head_dim, 32U);
  EXPECT_EQ(config.vocab_size, 40U);
  EXPECT_EQ(config.context_length, 2048U);
  EXPECT_FLOAT_EQ(static_cast<float>(config.norm_eps), 1e-5F);
  EXPECT_EQ(config.rope_theta, 10000.0);
  EXPECT_FLOAT_EQ(config.attention_scale, 1.0F / std::sqrt(32.0F));
}

TEST(ModelConfig, SmolLM3HasNoRopeOnEachFourthLayer) {
  EXPECT_THAT(config_of(TinyModel({})).layer_uses_rope, ElementsAre(true, true, true, false));
}

TEST(ModelConfig, LlamaHasRopeOnEachLayer) {
  EXPECT_THAT(config_of(TinyModel(llama())).layer_uses_rope, ElementsAre(true, true, true, true));
}

TEST(ModelConfig, NeighbouringQueryHeadsShareAKvHead) {
  EXPECT_THAT(config_of(TinyModel({})).kv_head_of, ElementsAre(0, 0, 1, 1));
}

TEST(ModelConfig, HeadDimComesFromTheWidthWhereNoKeyStatesIt) {
  TinySpec spec;
  spec.d_model = 128;
  TinyModel model(spec);
  model.erase("attention.key_length");
  model.erase("attention.value_length");
  EXPECT_EQ(config_of(model).head_dim, 32U);
}

TEST(ModelConfig, KvHeadsAreTheQueryHeadsWhereNoKeyStatesThem) {
  TinyModel model({});
  model.erase("attention.head_count_kv");
  EXPECT_EQ(config_of(model).n_kv_heads, 4U);
}

TEST(ModelConfig, RefusesAnUnknownArchitectureAndNamesThoseSupported) {
  TinyModel model({});
  model.set_full("general.architecture", std::string_view("qwen3"));
  EXPECT_THAT(config_error(model, ErrorCode::Unsupported),
              HasSubstr("expected one of smollm3, llama, found qwen3"));
}

struct BadKey {
  const char* key;
  gguf::MetadataValue value;
  ErrorCode code = ErrorCode::BadInput;
};

void PrintTo(const BadKey& bad, std::ostream* out) {
  *out << bad.key;
}

class ModelConfigRefuses : public ::testing::TestWithParam<BadKey> {};

TEST_P(ModelConfigRefuses, AnAbsurdValueNamingItsKey) {
  TinyModel model({});
  model.set(GetParam().key, GetParam().value);
  EXPECT_THAT(config_error(model, GetParam().code), HasSubstr("tiny.gguf: smollm3."));
}

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

INSTANTIATE_TEST_SUITE_P(
    Keys, ModelConfigRefuses,
    ::testing::Values(BadKey{"block_count", std::uint32_t{0}},
                      BadKey{"block_count", std::uint32_t{4000000000U}},
                      BadKey{"embedding_length", std::uint32_t{0}},
                      BadKey{"embedding_length", std::uint64_t{1} << 63U},
                      BadKey{"embedding_length", std::uint32_t{40}, ErrorCode::Unsupported},
                      BadKey{"feed_forward_length", std::uint32_t{0}},
                      BadKey{"feed_forward_length", std::uint32_t{33}, ErrorCode::Unsupported},
                      BadKey{"attention.head_count", std::uint32_t{0}},
                      BadKey{"attention.head_count", std::uint32_t{3}},
                      BadKey{"attention.head_count", std::uint32_t{32}, ErrorCode::Unsupported},
                      BadKey{"attention.head_count_kv", std::uint32_t{0}},
                      BadKey{"attention.head_count_kv", std::uint32_t{3}},
                      BadKey{"attention.head_count_kv", std::uint32_t{8}},
                      BadKey{"attention.key_length", std::uint32_t{48}, ErrorCode::Unsupported},
                      BadKey{"attention.key_length", std::uint32_t{256}, ErrorCode::Unsupported},
                      BadKey{"attention.value_length", std::uint32_t{64}},
                      BadKey{"rope.dimension_count", std::uint32_t{16}},
                      BadKey{"attention.layer_norm_rms_epsilon", 0.0F},
                      BadKey{"attention.layer_norm_rms_epsilon", -1e-5F},
                      BadKey{"attention.layer_norm_rms_epsilon", kNan},
                      BadKey{"attention.layer_norm_rms_epsilon", kInfinity},
                      BadKey{"rope.freq_base", 0.0F}, BadKey{"rope.freq_base", kNan},
                      BadKey{"rope.freq_base", kInfinity},
                      BadKey{"context_length", std::uint32_t{0}},
                      BadKey{"context_length", std::uint32_t{4000000000U}},
                      BadKey{"vocab_size", std::uint32_t{41}}));

class ModelConfigNeeds : public ::testing::TestWithParam<const char*> {};

TEST_P(ModelConfigNeeds, TheKey) {
  TinyModel model({});
  model.erase(GetParam());
  const std::string expected = std::string("smollm3.") + GetParam() + ": expected ";
  EXPECT_THAT(config_error(model, ErrorCode::BadInput), HasSubstr(expected));
}

INSTANTIATE_TEST_SUITE_P(Keys, ModelConfigNeeds,
                         ::testing::Values("block_count", "embedding_length", "feed_forward_length",
                                           "attention.head_count",
                                           "attention.layer_norm_rms_epsilon", "context_length"));

TEST(ModelConfig, RefusesAKeyOfAnotherType) {
  TinyModel model({});
  model.set_text("block_count", "four");
  EXPECT_THAT(config_error(model, ErrorCode::BadInput), HasSubstr("block_count"));
}

TEST(ModelConfig, RefusesAnEmbeddingThatDoesNotFitTheTokenizer) {
  TinyModel model({});
  model.set_full("tokenizer.ggml.tokens",
                 gguf::Array(std::vector<std::string_view>(39, std::string_view("x"))));
  EXPECT_THAT(config_error(model, ErrorCode::BadInput),
              HasSubstr("token_embd.weight: expected 39 rows"));
}

TEST(ModelConfig, RefusesAFileWithoutAnEmbedding) {
  TinyModel model({});
  model.erase_tensor("token_embd.weight");
  EXPECT_THAT(config_error(model, ErrorCode::BadInput), HasSubstr("token_embd.weight"));
}

TEST(ModelConfig, SmolLM3UsesYarnOnlyForALongerContext) {
  const ModelConfig native = config_of(TinyModel({}), 2048);
  EXPECT_EQ(native.rope_scaling.type, RopeScalingType::None);
  const ModelConfig extended = config_of(TinyModel({}), 2049);
  EXPECT_EQ(extended.rope_scaling.type, RopeScalingType::Yarn);
  EXPECT_EQ(extended.rope_scaling.factor, 2.0);
  EXPECT_EQ(extended.rope_scaling.original_context, 2048.0);
  EXPECT_EQ(extended.context_length, 4096U);
}

TEST(ModelConfig, SmolLM3RefusesMoreThanTwiceItsLength) {
  EXPECT_EQ(config_error(TinyModel({}), ErrorCode::Unsupported, 4096), "");
  const std::string message = config_error(TinyModel({}), ErrorCode::Unsupported, 4097);
  EXPECT_THAT(message, HasSubstr("4097"));
  EXPECT_THAT(message, HasSubstr("at most 4096"));
}

TEST(ModelConfig, LlamaRefusesMoreThanItsLength) {
  EXPECT_EQ(config_error(TinyModel(llama()), ErrorCode::Unsupported, 2048), "");
  EXPECT_THAT(config_error(TinyModel(llama()), ErrorCode::Unsupported, 2049),
              HasSubstr("at most 2048"));
}

TEST(ModelConfig, StatedYarnAppliesAtEveryLength) {
  TinyModel model({});
  model.set_text("rope.scaling.type", "yarn");
  model.set("rope.scaling.factor", 4.0F);
  model.set("rope.scaling.original_context_length", std::uint32_t{1024});
  model.set("rope.scaling.yarn_beta_fast", 16.0F);
  model.set("rope.scaling.yarn_beta_slow", 2.0F);
  const ModelConfig config = config_of(model, 8);
  EXPECT_EQ(config.rope_scaling.type, RopeScalingType::Yarn);
  EXPECT_EQ(config.rope_scaling.factor, 4.0);
  EXPECT_EQ(config.rope_scaling.original_context, 1024.0);
  EXPECT_EQ(config.rope_scaling.beta_fast, 16.0);
  EXPECT_EQ(config.rope_scaling.beta_slow, 2.0);
  EXPECT_EQ(config.context_length, 4096U);
  EXPECT_NEAR(config.rope.attention_factor, 0.1 * std::log(4.0) + 1.0, 1e-12);
}

TEST(ModelConfig, StatedAttentionFactorMultipliesYarns) {
  TinyModel model({});
  model.set_text("rope.scaling.type", "yarn");
  model.set("rope.scaling.factor", 4.0F);
  model.set("rope.scaling.attn_factor", 0.5F);
  EXPECT_NEAR(config_of(model).rope.attention_factor, 0.5 * (0.1 * std::log(4.0) + 1.0), 1e-12);
}

TEST(ModelConfig, LinearScalingDividesEveryFrequency) {
  TinyModel model(llama());
  const ModelConfig plain = config_of(model);
  model.set_text("rope.scaling.type", "linear");
  model.set("rope.scaling.factor", 4.0F);
  const ModelConfig scaled = config_of(model);
  ASSERT_EQ(scaled.rope.inv_freq.size(), 16U);
  for (std::size_t pair = 0; pair < 16; ++pair) {
    EXPECT_DOUBLE_EQ(scaled.rope.inv_freq[pair], plain.rope.inv_freq[pair] / 4.0);
  }
  EXPECT_EQ(scaled.context_length, 2048U);
}

TEST(ModelConfig, RefusesAnUnknownScalingByName) {
  TinyModel model({});
  model.set_text("rope.scaling.type", "longrope");
  EXPECT_THAT(config_error(model, ErrorCode::Unsupported), HasSubstr("longrope"));
}

TEST(ModelConfig, RefusesScalingWithoutOrWithAnAbsurdFactor) {
  TinyModel model({});
  model.set_text("rope.scaling.type", "yarn");
  EXPECT_THAT(config_error(model, ErrorCode::BadInput), HasSubstr("rope.scaling.factor"));
  for (const float factor : {0.0F, 0.5F, -2.0F, kNan, kInfinity}) {
    model.set("rope.scaling.factor", factor);
    EXPECT_THAT(config_error(model, ErrorCode::BadInput), HasSubstr("rope.scaling.factor"));
  }
}

TEST(ModelConfig, RefusesAYarnThatItWouldComputeWrongly) {
  TinyModel model({});
  model.set_text("rope.scaling.type", "yarn");
  model.set("rope.scaling.factor", 4.0F);
  model.set("rope.scaling.yarn_ext_factor", 0.5F);
  EXPECT_THAT(config_error(model, ErrorCode::Unsupported), HasSubstr("yarn_ext_factor"));
}

void set_divisors(TinyModel& model, const std::vector<float>& values) {
  model.add_tensor("rope_freqs.weight", {values.size()});
  std::memcpy(model.tensor("rope_freqs.weight").bytes.data(), values.data(),
              values.size() * sizeof(float));
}

TEST(ModelConfig, RopeFreqsDivideTheFrequencies) {
  TinyModel model({});
  const ModelConfig plain = config_of(model);
  std::vector<float> divisors(16, 1.0F);
  divisors[15] = 8.0F;
  set_divisors(model, divisors);
  const ModelConfig scaled = config_of(model);
  EXPECT_EQ(scaled.rope.inv_freq[0], plain.rope.inv_freq[0]);
  EXPECT_DOUBLE_EQ(scaled.rope.inv_freq[15], plain.rope.inv_freq[15] / 8.0);
  // The file states its scaling: no YaRN on top.
  EXPECT_THAT(config_error(model, ErrorCode::Unsupported, 2049), HasSubstr("at most 2048"));
}

TEST(ModelConfig, RefusesRopeFreqsOfAnotherLengthOrNotAboveZero) {
  TinyModel model({});
  set_divisors(model, std::vector<float>(15, 1.0F));
  EXPECT_THAT(config_error(model, ErrorCode::BadInput), HasSubstr("expected 16 values"));
  for (const float bad : {0.0F, -1.0F, kNan, kInfinity}) {
    TinyModel other({});
    set_divisors(other, std::vector<float>(16, bad));
    EXPECT_THAT(config_error(other, ErrorCode::BadInput), HasSubstr("rope_freqs.weight"));
  }
}

}  // namespace
}  // namespace smol::model
