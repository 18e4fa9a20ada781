// Blocks put together by hand from the layouts, one fact at a time.
#include "gguf/dequantize.h"

#include <cstring>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "gguf/half.h"
#include "gguf/quant_blocks.h"

namespace smol::gguf {
namespace {

constexpr std::uint16_t kOne = 0x3C00;
constexpr std::uint16_t kTwo = 0x4000;

template <typename Block>
std::vector<float> values_of(const Block& block) {
  std::vector<float> out(traits(Block::kDType).block_elements);
  dequantize(Block::kDType, std::as_bytes(std::span(&block, 1)), out);
  return out;
}

TEST(Dequantize, Q80MultipliesSignedBytes) {
  BlockQ80 block{};
  block.d = kTwo;
  block.qs[0] = -128;
  block.qs[31] = 127;
  const std::vector<float> values = values_of(block);
  EXPECT_EQ(values[0], -256.0F);
  EXPECT_EQ(values[1], 0.0F);
  EXPECT_EQ(values[31], 254.0F);
}

TEST(Dequantize, Q40HoldsTheSecondHalfInHighNibbles) {
  BlockQ40 block{};
  block.d = kOne;
  block.qs[3] = 0xF0;
  const std::vector<float> values = values_of(block);
  EXPECT_EQ(values[3], -8.0F);
  EXPECT_EQ(values[19], 7.0F);
}

TEST(Dequantize, Q41AndQ51AddTheirMinimum) {
  BlockQ41 four{};
  four.d = kOne;
  four.m = kTwo;
  four.qs[0] = 0x1F;
  EXPECT_EQ(values_of(four)[0], 17.0F);
  EXPECT_EQ(values_of(four)[16], 3.0F);
  BlockQ51 five{};
  five.d = kOne;
  five.m = kTwo;
  five.qh[2] = 1;  // bit 16: element 16
  EXPECT_EQ(values_of(five)[16], 18.0F);
  EXPECT_EQ(values_of(five)[0], 2.0F);
}

TEST(Dequantize, Q50TakesItsFifthBitByElement) {
  BlockQ50 block{};
  block.d = kOne;
  block.qh[1] = 0x02;  // bit 9: element 9
  EXPECT_EQ(values_of(block)[9], 0.0F);
  EXPECT_EQ(values_of(block)[8], -16.0F);
}

TEST(Dequantize, Q2KSplitsScaleAndMinimumNibbles) {
  BlockQ2K block{};
  block.d = kOne;
  block.dmin = kTwo;
  block.scales[9] = 0x35;    // elements 144 to 159: scale 5, minimum 3
  block.qs[32 + 16] = 0x03;  // element 128 + 16, shift 0
  EXPECT_EQ(values_of(block)[144], 5.0F * 3 - 2.0F * 3);
  EXPECT_EQ(values_of(block)[145], -6.0F);
}

TEST(Dequantize, Q3KSubtractsFourWhereTheMaskBitIsClear) {
  BlockQ3K block{};
  block.d = kOne;
  block.scales[0] = 0x01;  // sub-block 0: low bits 1; high bits 0: scale -31
  block.qs[0] = 0x02;
  EXPECT_EQ(values_of(block)[0], -31.0F * (2 - 4));
  block.hmask[0] = 0x01;
  EXPECT_EQ(values_of(block)[0], -31.0F * 2);
}

TEST(Dequantize, Q4KAndQ5KTakeSixBitScalesAndMinima) {
  std::array<ScaleMin, 8> pairs{};
  pairs[2] = {33, 7};
  pairs[7] = {62, 45};
  BlockQ4K four{};
  four.d = kOne;
  four.dmin = kTwo;
  four.scales = pack_k4(pairs);
  four.qs[32] = 0x09;       // sub-block 2, first element
  four.qs[96 + 31] = 0xB0;  // sub-block 7, last element
  EXPECT_EQ(values_of(four)[64], 33.0F * 9 - 14);
  EXPECT_EQ(values_of(four)[255], 62.0F * 11 - 90);
  BlockQ5K five{};
  five.d = kOne;
  five.scales = pack_k4(pairs);
  five.qh[31] = 0x80;  // fifth bit of sub-block 7
  EXPECT_EQ(values_of(five)[255], 62.0F * 16);
}

TEST(Dequantize, PackedScalesAndMinimaComeBack) {
  std::array<ScaleMin, 8> pairs{};
  for (std::size_t j = 0; j < 8; ++j) {
    pairs[j] = {static_cast<std::uint8_t>(63 - 7 * j), static_cast<std::uint8_t>(9 * j)};
  }
  const auto packed = pack_k4(pairs);
  for (std::size_t j = 0; j < 8; ++j) {
    EXPECT_EQ(scale_min_k4(packed, j).scale, pairs[j].scale);
    EXPECT_EQ(scale_min_k4(packed, j).min, pairs[j].min);
  }
}

TEST(Dequantize, Q6KJoinsNibblesAndBitPairs) {
  BlockQ6K block{};
  block.d = kOne;
  block.scales[8 + 6] = -3;  // elements 224 to 239
  block.ql[64 + 32] = 0x50;  // element 224: low nibble 5
  block.qh[32] = 0xC0;       // and high bits 3
  EXPECT_EQ(values_of(block)[224], -3.0F * (5 + 48 - 32));
}

TEST(Dequantize, Iq4TypesLookTheirValuesUp) {
  BlockIq4Nl small{};
  small.d = kOne;
  small.qs[0] = 0xF0;
  EXPECT_EQ(values_of(small)[0], -127.0F);
  EXPECT_EQ(values_of(small)[16], 113.0F);
  BlockIq4Xs super{};
  super.d = kOne;
  super.scales_l[2] = 0x30;  // sub-block 5: low bits 3
  super.scales_h = 0x0C00;   // and high bits 3
  super.qs[80] = 0x08;
  EXPECT_EQ(values_of(super)[160], (51.0F - 32) * 1);
  EXPECT_EQ(values_of(super)[176], (51.0F - 32) * -127);
}

TEST(Dequantize, CopiesFloatsAndWidensHalves) {
  const std::vector<float> floats{1.5F, -2.25F};
  std::vector<float> out(2);
  dequantize(DType::F32, std::as_bytes(std::span(floats)), out);
  EXPECT_EQ(out, floats);
  const std::vector<std::uint16_t> halves{kOne, kTwo};
  dequantize(DType::F16, std::as_bytes(std::span(halves)), out);
  EXPECT_EQ(out, (std::vector<float>{1.0F, 2.0F}));
  const std::vector<std::uint16_t> brains{0x3F80, 0xC000};
  dequantize(DType::BF16, std::as_bytes(std::span(brains)), out);
  EXPECT_EQ(out, (std::vector<float>{1.0F, -2.0F}));
}

TEST(Dequantize, ReadsBlocksAtAnyAddress) {
  BlockQ80 block{};
  block.d = kOne;
  block.qs[0] = 42;
  std::vector<std::byte> bytes(sizeof(block) + 1);
  std::memcpy(bytes.data() + 1, &block, sizeof(block));
  std::vector<float> out(32);
  dequantize(DType::Q8_0, std::span(bytes).subspan(1), out);
  EXPECT_EQ(out[0], 42.0F);
}

}  // namespace
}  // namespace smol::gguf
