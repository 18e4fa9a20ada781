// Which type each tensor of a model gets when a file is quantized.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gguf/tensor_view.h"

namespace smol::gguf {

enum class QuantizeType : std::uint8_t {
  Q8_0,
  Q4_0,
  Q4_K,
  Q6_K,
  Q4_K_M,  // Q4_K; embedding, output matrix and, in half of the layers, attn_v and ffn_down are
           // Q6_K
};

// By name, in any case; nullopt for another name.
std::optional<QuantizeType> quantize_type_from_name(std::string_view name);
// "Q8_0, Q4_0, Q4_K, Q6_K, Q4_K_M"
std::string quantize_type_names();
// The value of `general.file_type`.
std::uint32_t file_type_id(QuantizeType type) noexcept;

// Whether attn_v and ffn_down of this layer get more bits in Q4_K_M: the first and last eighth of
// the layers and every third one between.
bool uses_more_bits(std::size_t layer, std::size_t n_layers) noexcept;

struct TypeChoice {
  DType dtype;
  bool fell_back;  // the rows' length does not allow the type that `type` asks for
};

// Matrices are quantized; vectors (norms, rope_freqs) become or stay F32. Rows that are no multiple
// of 256 get Q8_0 instead of a K-quant; rows that are no multiple of 32 either stay as they are.
TypeChoice choose_type(QuantizeType type, const TensorView& tensor, std::size_t n_layers);

}  // namespace smol::gguf
