#include "kernels/support.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "gguf/quant_blocks.h"
#include "kernels/panel.h"

namespace smol::kernels::test {
namespace {

using gguf::DType;

// Byte offsets of the half-precision scales of a block.
std::vector<std::size_t> scale_offsets(DType dtype) {
  switch (dtype) {
    case DType::Q4_1:
    case DType::Q5_1:
    case DType::Q4_K:
    case DType::Q5_K:
      return {0, 2};
    case DType::Q2_K:
      return {80, 82};
    case DType::Q3_K:
      return {108};
    case DType::Q6_K:
      return {208};
    case DType::F32:
    case DType::F16:
    case DType::BF16:
      return {};
    default:
      return {0};
  }
}

std::uint16_t scale_bits(Random& random, Fill fill) {
  const auto sign = static_cast<std::uint16_t>((random_bits(random) & 1U) << 15U);
  switch (fill) {
    case Fill::TinyScales:
      return static_cast<std::uint16_t>(sign | (random_bits(random) % 0x3FFU));
    case Fill::LargeScales:
      return static_cast<std::uint16_t>(sign | 0x7BFFU);
    case Fill::ZeroScales:
      return sign;
    default:
      return static_cast<std::uint16_t>(sign | (0x2000U + random_bits(random) % 0x1800U));
  }
}

std::byte code_byte(Random& random, Fill fill) {
  switch (fill) {
    case Fill::AllOnes:
      return std::byte{0xFF};
    case Fill::AllZeros:
      return std::byte{0};
    case Fill::SignBits:
      return std::byte{0x80};
    default:
      return static_cast<std::byte>(random_bits(random) & 0xFFU);
  }
}

// A finite value of a float type: its exponent is kept moderate, tiny or large by `fill`.
void fill_float(Random& random, DType dtype, Fill fill, std::byte* out) {
  std::uint32_t exponent = 120 + random_bits(random) % 14;
  if (fill == Fill::TinyScales) {
    exponent = 0;
  }
  if (fill == Fill::LargeScales) {
    exponent = 190;
  }
  const std::uint32_t zero = fill == Fill::ZeroScales ? 0U : 0xFFFFFFFFU;
  const std::uint32_t bits = ((random_bits(random) & 1U) << 31U) |
                             (zero & ((exponent << 23U) | (random_bits(random) & 0x7FFFFFU)));
  std::uint16_t half = scale_bits(random, fill);
  if (dtype == DType::BF16) {
    half = static_cast<std::uint16_t>(bits >> 16U);
  }
  if (dtype == DType::F32) {
    std::memcpy(out, &bits, sizeof(bits));
  } else {
    std::memcpy(out, &half, sizeof(half));
  }
}

}  // namespace

std::vector<DType> all_types() {
  std::vector<DType> types;
  for (const gguf::DTypeTraits& traits : gguf::all_dtypes()) {
    types.push_back(traits.dtype);
  }
  return types;
}

std::vector<float> normal_floats(Random& random, std::size_t n, float sigma) {
  std::normal_distribution<float> normal(0.0F, sigma);
  std::vector<float> values(n);
  for (float& value : values) {
    value = normal(random);
  }
  return values;
}

TestMatrix::TestMatrix(DType dtype, std::size_t n_rows, std::size_t n_cols)
    : dtype_(dtype),
      n_rows_(n_rows),
      n_cols_(n_cols),
      row_bytes_(n_cols / gguf::traits(dtype).block_elements * gguf::traits(dtype).block_bytes),
      bytes_(n_rows * row_bytes_),
      storage_(matrix_bytes(dtype, n_rows, row_bytes_) + kPanelAlignment) {
  void* start = storage_.data();
  std::size_t space = storage_.size();
  packed_ = static_cast<std::byte*>(std::align(kPanelAlignment, 1, start, space));
}

void TestMatrix::pack() {
  if (!has_panels(dtype_)) {
    std::copy(bytes_.begin(), bytes_.end(), packed_);
    return;
  }
  for (std::size_t r = 0; r < n_rows_; r += kPanelRows) {
    const std::size_t count = std::min(kPanelRows, n_rows_ - r);
    pack_panel(dtype_, std::span(bytes_).subspan(r * row_bytes_, count * row_bytes_), row_bytes_,
               packed_ + r / kPanelRows * panel_bytes(row_bytes_));
  }
}

Matrix TestMatrix::in_rows() const {
  return {dtype_, bytes_.data(), n_rows_, n_cols_, row_bytes_};
}

Matrix TestMatrix::view() const {
  return {dtype_, packed_, n_rows_, n_cols_, row_bytes_};
}

TestMatrix make_matrix(Random& random, DType dtype, std::size_t n_rows, std::size_t n_cols,
                       Fill fill) {
  const std::size_t block_bytes = gguf::traits(dtype).block_bytes;
  TestMatrix matrix(dtype, n_rows, n_cols);
  const std::vector<std::size_t> offsets = scale_offsets(dtype);
  for (std::size_t at = 0; at < matrix.bytes().size(); at += block_bytes) {
    std::byte* block = matrix.bytes().data() + at;
    if (offsets.empty()) {
      fill_float(random, dtype, fill, block);
      continue;
    }
    for (std::size_t i = 0; i < block_bytes; ++i) {
      block[i] = code_byte(random, fill);
    }
    for (const std::size_t offset : offsets) {
      const std::uint16_t bits = scale_bits(random, fill);
      std::memcpy(block + offset, &bits, sizeof(bits));
    }
  }
  matrix.pack();
  return matrix;
}

TestActivations quantize_for(const KernelTable& table, DType weights, std::vector<float> x,
                             std::size_t n_cols) {
  const ActivationFormat format = activation_format(weights);
  const std::size_t n_tokens = x.size() / n_cols;
  TestActivations out;
  out.f32 = std::move(x);
  if (format != ActivationFormat::F32) {
    const std::size_t block = format == ActivationFormat::Q8x32 ? 32 : 256;
    out.codes.resize(out.f32.size());
    out.scales.resize(out.f32.size() / block);
    out.sums.resize(out.f32.size() / kSumBlock);
    out.joined.resize(out.f32.size() / kJoinedBlock);
    out.peaks.resize(out.f32.size() / block);
    const Quantize quantize =
        format == ActivationFormat::Q8x32 ? table.quantize_q8x32 : table.quantize_q8x256;
    for (std::size_t t = 0; t < n_tokens; ++t) {
      quantize(std::span(out.f32).subspan(t * n_cols, n_cols),
               {out.codes.data() + t * block, out.scales.data() + t,
                out.sums.data() + t * (block / kSumBlock),
                out.joined.data() + t * (block / kJoinedBlock), out.peaks.data() + t, n_tokens});
    }
  }
  out.view = {format,          n_tokens,          n_cols,
              out.f32.data(),  out.codes.data(),  out.scales.data(),
              out.sums.data(), out.joined.data(), out.peaks.data()};
  return out;
}

}  // namespace smol::kernels::test
