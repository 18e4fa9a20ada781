#include "model/fingerprint.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>

namespace smol::model {
namespace {

// FNV-1a (Fowler, Noll, Vo 1991).
class Fnv {
 public:
  void add(std::span<const std::byte> bytes) noexcept {
    for (const std::byte byte : bytes) {
      value_ = (value_ ^ std::to_integer<std::uint64_t>(byte)) * 1099511628211U;
    }
  }

  void add(std::string_view text) noexcept { add(std::as_bytes(std::span(text))); }

  template <class Number>
  void add_number(Number number) noexcept {
    add(std::as_bytes(std::span(&number, 1)));
  }

  std::uint64_t value() const noexcept { return value_; }

 private:
  std::uint64_t value_ = 14695981039346656037U;
};

// The first bytes of each of a few parts.
void add_sample(Fnv& hash, std::span<const std::byte> bytes) noexcept {
  constexpr std::size_t kParts = 16;
  constexpr std::size_t kBytes = 64;
  for (std::size_t part = 0; part < kParts; ++part) {
    const auto rest = bytes.subspan(bytes.size() / kParts * part);
    hash.add(rest.first(std::min(rest.size(), kBytes)));
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
    add_sample(hash, tensor.bytes);
  }
  return hash.value();
}

}  // namespace smol::model
