#include <cmath>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "model/plain_forward.h"
#include "model/session.h"
#include "support/tiny_model.h"

namespace smol::model {
namespace {

using test::TinyFile;
using test::TinyModel;
using test::TinySpec;

DecoderOptions options_of(KvCacheType kv_type, std::size_t context = 128, std::size_t n_slots = 1) {
  DecoderOptions options;
  options.kv_type = kv_type;
  options.context = context;
  options.n_slots = n_slots;
  options.max_batch = 64;
  return options;
}

double rms_difference(std::span<const float> got, std::span<const double> expected) {
  EXPECT_EQ(got.size(), expected.size());
  double sum = 0.0;
  for (std::size_t i = 0; i < std::min(got.size(), expected.size()); ++i) {
    const double difference = static_cast<double>(got[i]) - expected[i];
    sum += difference * difference;
  }
  return std::sqrt(sum / static_cast<double>(expected.size()));
}

// The same as a share of the expected values: a wrong model is off by about 1.
double relative_difference(std::span<const float> got, std::span<const double> expected) {
  double sum = 0.0;
  for (const double value : expected) {
    sum += value * value;
  }
  return rms_difference(got, expected) / std::sqrt(sum / static_cast<double>(expected.size()));
}

// What rounding inputs to int8 costs in models this small.
constexpr double kInt8Tolerance = 0.05;

struct Shape {
  const char* name;
  TinySpec spec;
};

void PrintTo(const Shape& shape, std::ostream* out) {
  *out << shape.name;
}

TinySpec shape(std::string architecture, std::size_t n_heads, std::size_t n_kv_heads,
               std::size_t head_dim) {
  TinySpec spec;
  spec.architecture = std::move(architecture);
  spec.n_heads = n_heads;
  spec.n_kv_heads = n_kv_heads;
  spec.head_dim = head_dim;
  return spec;
}

TinySpec untied(TinySpec spec) {
  spec.is_tied = false;
  return spec;
}

class CpuDecoderShapes : public ::testing::TestWithParam<Shape> {};

// Logits are of the order of 10: float32 keeps six digits of them.
constexpr double kFloatTolerance = 2e-5;

TEST_P(CpuDecoderShapes, AgreesWithThePlainForwardPass) {
  const TinyFile tiny(GetParam().spec);
  Session session(tiny.file(), options_of(KvCacheType::F32));
  const std::vector<TokenId> ids = some_ids(40, session.config().vocab_size);
  const std::vector<double> expected = plain_forward(tiny.file(), session.config(), ids);
  EXPECT_LT(rms_difference(session.append(ids, 16), expected), kFloatTolerance);
}

INSTANTIATE_TEST_SUITE_P(Shapes, CpuDecoderShapes,
                         ::testing::Values(Shape{"no grouping", shape("smollm3", 3, 3, 32)},
                                           Shape{"2 to 1", shape("smollm3", 4, 2, 64)},
                                           Shape{"3 to 1", shape("llama", 3, 1, 128)},
                                           Shape{"8 to 1", shape("smollm3", 8, 1, 32)},
                                           Shape{"llama untied",
                                                 untied(shape("llama", 2, 2, 64))}));

TEST(CpuDecoder, AgreesWithThePlainForwardPassUnderYarn) {
  TinySpec spec;
  spec.context_length = 64;
  const TinyFile tiny(spec);
  Session session(tiny.file(), options_of(KvCacheType::F32, 128));
  ASSERT_EQ(session.config().rope_scaling.type, RopeScalingType::Yarn);
  const std::vector<TokenId> ids = some_ids(70, session.config().vocab_size);
  const std::vector<double> expected = plain_forward(tiny.file(), session.config(), ids);
  EXPECT_LT(rms_difference(session.append(ids, 64), expected), kFloatTolerance);
}

TEST(CpuDecoder, HalfPrecisionCacheStaysNearFloat) {
  const TinyFile tiny{TinySpec{}};
  Session session(tiny.file(), options_of(KvCacheType::F16));
  const std::vector<TokenId> ids = some_ids(40, session.config().vocab_size);
  const std::vector<double> expected = plain_forward(tiny.file(), session.config(), ids);
  const double difference = rms_difference(session.append(ids, 16), expected);
  EXPECT_LT(difference, 5e-3);
  EXPECT_GT(difference, kFloatTolerance);
}

TinySpec quantized(gguf::DType dtype) {
  TinySpec spec;
  spec.dtype = dtype;
  spec.d_model = 256;
  spec.d_ff = 512;
  spec.n_heads = 8;
  return spec;
}

TEST(CpuDecoder, RunsQuantizedMatricesOfBothBlockLengths) {
  for (const gguf::DType dtype : {gguf::DType::Q8_0, gguf::DType::Q6_K}) {
    const TinyFile tiny(quantized(dtype));
    Session session(tiny.file(), options_of(KvCacheType::F16));
    const std::vector<TokenId> ids = some_ids(12, session.config().vocab_size);
    const std::vector<double> expected = plain_forward(tiny.file(), session.config(), ids);
    EXPECT_LT(relative_difference(session.append(ids, 12), expected), kInt8Tolerance);
  }
}

TEST(CpuDecoder, TypesMayDifferInsideALayer) {
  TinyModel model(quantized(gguf::DType::Q8_0));
  TinyModel other(quantized(gguf::DType::Q4_K));
  for (const char* name : {"blk.0.attn_v.weight", "blk.1.ffn_up.weight", "blk.2.ffn_down.weight"}) {
    model.tensor(name) = other.tensor(name);
  }
  const TinyFile tiny(model);
  Session session(tiny.file(), options_of(KvCacheType::F16));
  const std::vector<TokenId> ids = some_ids(12, session.config().vocab_size);
  const std::vector<double> expected = plain_forward(tiny.file(), session.config(), ids);
  EXPECT_LT(relative_difference(session.append(ids, 12), expected), kInt8Tolerance);
}

TEST(CpuDecoder, Int8CacheStaysNearFloat) {
  const TinyFile tiny{TinySpec{}};
  Session session(tiny.file(), options_of(KvCacheType::Int8));
  const std::vector<TokenId> ids = some_ids(40, session.config().vocab_size);
  const std::vector<double> expected = plain_forward(tiny.file(), session.config(), ids);
  const double difference = relative_difference(session.append(ids, 16), expected);
  EXPECT_LT(difference, kInt8Tolerance);
  EXPECT_GT(difference, 1e-5);
}

struct TypesOfABitsTest {
  gguf::DType weights;
  KvCacheType cache;
};

class CpuDecoderBits : public ::testing::TestWithParam<TypesOfABitsTest> {};

TEST_P(CpuDecoderBits, DoNotDependOnChunksOrThreads) {
  TinySpec spec = quantized(GetParam().weights);
  const DecoderOptions options = options_of(GetParam().cache);
  spec.n_layers = 2;
  spec.d_ff = 256;
  const TinyFile tiny(spec);
  const std::vector<TokenId> ids = some_ids(66, spec.vocab_size);
  const std::vector<float> expected = Session(tiny.file(), options).append(ids, 1);
  for (const std::size_t threads : {1U, 2U, 3U, 4U}) {
    for (const std::size_t chunk : {1U, 7U, 64U}) {
      Session session(tiny.file(), options, threads);
      EXPECT_EQ(session.append(ids, chunk), expected) << threads << " threads, chunk " << chunk;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, CpuDecoderBits,
                         ::testing::Values(TypesOfABitsTest{gguf::DType::F32, KvCacheType::F16},
                                           TypesOfABitsTest{gguf::DType::Q8_0, KvCacheType::F32},
                                           TypesOfABitsTest{gguf::DType::Q4_K, KvCacheType::Int8}));

TEST(CpuDecoder, BitsDoNotDependOnChunksWhereAttentionTakesSeveralRuns) {
  TinySpec spec;
  spec.n_layers = 1;
  const TinyFile tiny(spec);
  const std::vector<TokenId> ids = some_ids(1100, spec.vocab_size);
  for (const KvCacheType type : {KvCacheType::F32, KvCacheType::Int8}) {
    const std::vector<float> expected = Session(tiny.file(), options_of(type, 1100)).append(ids, 1);
    DecoderOptions options = options_of(type, 1100);
    options.max_batch = 1100;
    for (const std::size_t chunk : {64U, 1100U}) {
      Session session(tiny.file(), options, 3);
      EXPECT_EQ(session.append(ids, chunk), expected) << chunk;
    }
  }
}

TEST(CpuDecoder, TruncatedSlotContinuesAsIfTheRestHadNeverBeen) {
  const TinyFile tiny{TinySpec{}};
  const std::vector<TokenId> ids = some_ids(40, 40);
  Session session(tiny.file(), options_of(KvCacheType::F16));
  const std::vector<float> expected = session.append(ids, 16);
  session.decoder().truncate(0, 21);
  EXPECT_EQ(session.decoder().n_tokens(0), 21U);
  session.append(std::vector<TokenId>(19, 3), 16);
  session.decoder().truncate(0, 21);
  const std::vector<float> rest = session.append(std::span(ids).subspan(21), 16);
  EXPECT_TRUE(std::ranges::equal(rest, std::span(expected).subspan(840)));
}

TEST(CpuDecoder, SlotsOfOneBatchDoNotSeeEachOther) {
  const TinyFile tiny{TinySpec{}};
  const std::vector<TokenId> first = some_ids(20, 40);
  const std::vector<TokenId> second(first.rbegin(), first.rend());
  Session alone(tiny.file(), options_of(KvCacheType::F16));
  const std::vector<float> expected_first = alone.append(first, 20);
  alone.decoder().truncate(0, 0);
  const std::vector<float> expected_second = alone.append(second, 20);

  Session session(tiny.file(), options_of(KvCacheType::F16, 128, 2), 2);
  std::vector<BatchToken> batch;
  for (std::uint32_t i = 0; i < 20; ++i) {
    batch.push_back({first[i], i, 0, true});
    batch.push_back({second[i], i, 1, true});
  }
  const std::span<const float> logits = session.decoder().forward(batch);
  for (std::size_t i = 0; i < 20; ++i) {
    const auto row = logits.subspan(2 * i * 40, 80);
    EXPECT_TRUE(std::ranges::equal(row.first(40), std::span(expected_first).subspan(i * 40, 40)));
    EXPECT_TRUE(std::ranges::equal(row.last(40), std::span(expected_second).subspan(i * 40, 40)));
  }
}

TEST(CpuDecoder, GivesLogitsOnlyOfTheTokensThatWantThem) {
  const TinyFile tiny{TinySpec{}};
  Session session(tiny.file(), options_of(KvCacheType::F16));
  const std::vector<float> all = session.append(some_ids(4, 40), 4);
  session.decoder().truncate(0, 0);
  std::vector<BatchToken> batch;
  for (std::uint32_t i = 0; i < 4; ++i) {
    batch.push_back({some_ids(4, 40)[i], i, 0, i % 2 == 1});
  }
  const std::span<const float> logits = session.decoder().forward(batch);
  ASSERT_EQ(logits.size(), 80U);
  EXPECT_TRUE(std::equal(logits.begin(), logits.begin() + 40, all.begin() + 40));
  EXPECT_TRUE(std::equal(logits.begin() + 40, logits.end(), all.begin() + 120));
}

TEST(CpuDecoder, KnowsTheLargestOfEverySixteenLogits) {
  const TinyFile tiny{TinySpec{}};
  Session session(tiny.file(), options_of(KvCacheType::F16), 2);
  const std::vector<float> logits = session.append(some_ids(3, 40), 3);
  const std::span<const float> maxima = session.decoder().logit_maxima();
  ASSERT_EQ(maxima.size(), 9U);
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t i = 0; i < 3; ++i) {
      const auto first = logits.begin() + static_cast<std::ptrdiff_t>(row * 40 + i * 16);
      EXPECT_EQ(maxima[row * 3 + i], *std::max_element(first, first + (i == 2 ? 8 : 16)));
    }
  }
}

TEST(CpuDecoder, GivesUpAStepThatNobodyWants) {
  const TinyFile tiny{TinySpec{}};
  Session session(tiny.file(), options_of(KvCacheType::F16), 2);
  const std::vector<float> expected = session.append(some_ids(4, 40), 4);
  session.decoder().truncate(0, 0);
  int n_asked = 0;
  session.decoder().give_up_when([&] { return ++n_asked == 2; });
  EXPECT_TRUE(session.append(some_ids(4, 40), 4).empty());
  EXPECT_EQ(n_asked, 2);
  EXPECT_TRUE(session.decoder().logit_maxima().empty());
  session.decoder().truncate(0, 0);
  EXPECT_EQ(session.append(some_ids(4, 40), 4), expected);
}

TEST(CpuDecoder, WithoutRoomForTheCacheSaysWhatIsNeededAndWhatThereIs) {
  const TinyFile tiny{TinySpec{}};
  try {
    // 4 layers x 2 heads x 2 x 4096 positions x 32 x 2 bytes, a million times
    Session session(tiny.file(), options_of(KvCacheType::F16, 2048, 1000000));
    FAIL() << "expected an error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Exhausted);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("need 2097152000000 bytes"));
    EXPECT_THAT(error.what(), ::testing::HasSubstr("are available"));
  }
}

TEST(CpuDecoder, RefusesAContextBeyondTheConfiguration) {
  const TinyFile tiny{TinySpec{}};
  ThreadPool pool(1);
  const Weights weights(tiny.file(), ModelConfig::from_gguf(tiny.file(), std::nullopt), pool);
  EXPECT_THROW(make_cpu_decoder(weights, options_of(KvCacheType::F16, 2049), pool,
                                kernels::active_kernels()),
               Error);
}

TEST(CpuDecoderDeathTest, StopsAtAPositionThatIsNotTheNext) {
  const TinyFile tiny{TinySpec{}};
  Session session(tiny.file(), options_of(KvCacheType::F16));
  const BatchToken token{0, 1, 0, true};
  EXPECT_DEATH(session.decoder().forward({&token, 1}), "position");
}

}  // namespace
}  // namespace smol::model
