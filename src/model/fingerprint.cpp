#include "model/fingerprint.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "model/fnv.h"

namespace smol::model {
namespace {

// The first bytes of each of a few parts, not through the mapping: the system would map many pages
// around each, and they would count as memory beside the loaded weights.
void add_sample(Fnv& hash, const gguf::File& file, const gguf::TensorView& tensor) {
  constexpr std::size_t kParts = 16;
  constexpr std::size_t kBytes = 64;
  std::array<std::byte, kBytes> sample{};
  const std::size_t size = tensor.bytes.size();
  for (std::size_t part = 0; part < kParts; ++part) {
    const std::size_t begin = size / kParts * part;
    const std::span bytes = std::span(sample).first(std::min(size - begin, kBytes));
    file.read(tensor, begin, bytes);
    hash.add(bytes);
  }
}

}  // namespace

std::uint64_t fingerprint(const gguf::File& file, const ModelConfig& config) {
  Fnv hash;
  hash.add(config.architecture);
  for (const std::size_t count : {config.n_layers, config.d_model, config.d_ff, config.n_heads,
                                  config.n_kv_heads, config.head_dim, config.vocab_size}) {
    hash.add_number(std::uint64_t{count});
  }
  hash.add_number(config.norm_eps);
  hash.add_number(config.rope.pairs);
  hash.add_number(config.rope.attention_factor);
  for (const double frequency : config.rope.inv_freq) {
    hash.add_number(frequency);
  }
  for (const bool uses_rope : config.layer_uses_rope) {
    hash.add_number(std::uint8_t{uses_rope});
  }
  for (const gguf::TensorView& tensor : file.tensors()) {
    hash.add(tensor.name);
    hash.add_number(tensor.dtype);
    for (const std::size_t axis : tensor.shape) {
      hash.add_number(std::uint64_t{axis});
    }
    add_sample(hash, file, tensor);
  }
  return hash.value();
}

}  // namespace smol::model
