#include "gguf/quantize_mix.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

namespace smol::gguf {
namespace {

struct Named {
  QuantizeType type;
  std::string_view name;
  std::uint32_t file_type;  // llama.cpp's LLAMA_FTYPE ids
};

constexpr std::array kNamed{
    Named{QuantizeType::Q8_0, "Q8_0", 7},      Named{QuantizeType::Q4_0, "Q4_0", 2},
    Named{QuantizeType::Q4_K, "Q4_K", 14},     Named{QuantizeType::Q6_K, "Q6_K", 18},
    Named{QuantizeType::Q4_K_M, "Q4_K_M", 15},
};

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::toupper(x) == std::toupper(y);
  });
}

// "blk.12.attn_v.weight" -> 12 where the part behind the number is `part`.
std::optional<std::size_t> layer_of(std::string_view name, std::string_view part) {
  constexpr std::string_view kPrefix = "blk.";
  if (name.substr(0, kPrefix.size()) != kPrefix) {
    return std::nullopt;
  }
  const char* begin = name.data() + kPrefix.size();
  const char* end = name.data() + name.size();
  std::size_t layer = 0;
  const auto [rest, error] = std::from_chars(begin, end, layer);
  const bool matches =
      error == std::errc{} && std::string_view(rest, static_cast<std::size_t>(end - rest)) == part;
  return matches ? std::optional(layer) : std::nullopt;
}

DType mixed_type(std::string_view name, std::size_t n_layers) {
  if (name == "token_embd.weight" || name == "output.weight") {
    return DType::Q6_K;
  }
  std::optional<std::size_t> layer = layer_of(name, ".attn_v.weight");
  if (!layer) {
    layer = layer_of(name, ".ffn_down.weight");
  }
  return layer && uses_more_bits(*layer, n_layers) ? DType::Q6_K : DType::Q4_K;
}

DType wanted_type(QuantizeType type, std::string_view name, std::size_t n_layers) {
  switch (type) {
    case QuantizeType::Q8_0:
      return DType::Q8_0;
    case QuantizeType::Q4_0:
      return DType::Q4_0;
    case QuantizeType::Q4_K:
      return DType::Q4_K;
    case QuantizeType::Q6_K:
      return DType::Q6_K;
    case QuantizeType::Q4_K_M:
      break;
  }
  return mixed_type(name, n_layers);
}

}  // namespace

std::optional<QuantizeType> quantize_type_from_name(std::string_view name) {
  for (const Named& entry : kNamed) {
    if (equal_ignoring_case(entry.name, name)) {
      return entry.type;
    }
  }
  return std::nullopt;
}

std::string quantize_type_names() {
  std::string names;
  for (const Named& entry : kNamed) {
    names += (names.empty() ? "" : ", ") + std::string(entry.name);
  }
  return names;
}

std::uint32_t file_type_id(QuantizeType type) noexcept {
  const auto* found = std::find_if(kNamed.begin(), kNamed.end(),
                                   [&](const Named& entry) { return entry.type == type; });
  return found->file_type;
}

bool uses_more_bits(std::size_t layer, std::size_t n_layers) noexcept {
  const std::size_t eighth = n_layers / 8;
  return layer < eighth || layer >= 7 * n_layers / 8 || (layer - eighth) % 3 == 2;
}

TypeChoice choose_type(QuantizeType type, const TensorView& tensor, std::size_t n_layers) {
  if (tensor.shape.size() < 2) {
    return {DType::F32, false};
  }
  const DType wanted = wanted_type(type, tensor.name, n_layers);
  if (tensor.n_cols() % traits(wanted).block_elements == 0) {
    return {wanted, false};
  }
  const bool fits_small = tensor.n_cols() % traits(DType::Q8_0).block_elements == 0;
  return {fits_small ? DType::Q8_0 : tensor.dtype, true};
}

}  // namespace smol::gguf
