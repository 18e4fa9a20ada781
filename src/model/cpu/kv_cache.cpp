#include "model/cpu/kv_cache.h"

#include <initializer_list>
#include <limits>
#include <string>

#include "base/cpu_info.h"
#include "base/error.h"

namespace smol::model {

namespace {

constexpr std::size_t kElementBytesF32 = 4;
constexpr std::size_t kElementBytesF16 = 2;

// SIZE_MAX where the product overflows: more than any machine has.
std::size_t product(std::initializer_list<std::size_t> factors) noexcept {
  std::size_t result = 1;
  for (const std::size_t factor : factors) {
    if (__builtin_mul_overflow(result, factor, &result)) {
      return std::numeric_limits<std::size_t>::max();
    }
  }
  return result;
}

std::size_t half_bytes(const ModelConfig& config, const DecoderOptions& options) noexcept {
  // Whole steps, so that every head starts on a cache line and no kernel reads into the next one.
  const std::size_t positions =
      (options.context + kernels::kStep - 1) / kernels::kStep * kernels::kStep;
  const std::size_t element =
      options.kv_type == KvCacheType::F32 ? kElementBytesF32 : kElementBytesF16;
  return product({positions, config.head_dim, element});
}

std::size_t checked_total(const ModelConfig& config, const DecoderOptions& options) {
  const std::size_t needed = product(
      {options.n_slots, config.n_layers, config.n_kv_heads, 2, half_bytes(config, options)});
  const std::uint64_t available = available_memory_bytes();
  // Where the system does not tell, mmap decides.
  if (available != 0 && needed > available) {
    throw Error(ErrorCode::Exhausted, "key/value cache: " + std::to_string(options.n_slots) +
                                          " x " + std::to_string(options.context) +
                                          " positions need " + std::to_string(needed) + " bytes, " +
                                          std::to_string(available) + " are available");
  }
  return needed;
}

}  // namespace

KvCache::KvCache(const ModelConfig& config, const DecoderOptions& options)
    : type_(options.kv_type == KvCacheType::F32 ? kernels::KvType::F32 : kernels::KvType::F16),
      n_layers_(config.n_layers),
      n_kv_heads_(config.n_kv_heads),
      head_dim_(config.head_dim),
      half_bytes_(half_bytes(config, options)),
      memory_(checked_total(config, options)),
      n_tokens_(options.n_slots, 0) {}

kernels::KvHead KvCache::head(SlotId slot, std::size_t layer, std::size_t kv_head) const noexcept {
  const std::size_t index = (slot * n_layers_ + layer) * n_kv_heads_ + kv_head;
  std::byte* keys = memory_.data() + index * 2 * half_bytes_;
  return {type_, keys, keys + half_bytes_, head_dim_};
}

}  // namespace smol::model
