#include "app/memory_plan.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/numbers.h"
#include "base/error.h"

namespace smol::app {

namespace {

// Largest context within `available_bytes`, in whole groups of positions.
std::size_t largest_that_fits(const MemoryNeed& need, std::uint64_t available_bytes) {
  constexpr std::uint64_t kGroup = 64;
  const std::uint64_t fixed = need.total(0);
  if (available_bytes <= fixed) {
    return 0;
  }
  const std::uint64_t positions = (available_bytes - fixed) / need.bytes_per_position;
  return static_cast<std::size_t>(positions / kGroup * kGroup);
}

[[noreturn]] void refuse(std::size_t context, const MemoryNeed& need, std::uint64_t available_bytes,
                         std::size_t fits) {
  const std::string remedy =
      fits == 0 ? std::string("no context fits")
                : fmt::format("the largest context that fits is {} (--context auto)", fits);
  throw Error{ErrorCode::Exhausted,
              fmt::format("memory for a context of {} tokens: expected {} (weights {}, cache {}), "
                          "found {} available; {}",
                          context, bytes_text(need.total(context)), bytes_text(need.weight_bytes),
                          bytes_text(need.bytes_per_position * context),
                          bytes_text(available_bytes), remedy)};
}

std::size_t wanted_context(const ContextChoice& choice, const model::ModelConfig& config) {
  if (const auto* fixed = std::get_if<std::size_t>(&choice)) {
    return *fixed;
  }
  const bool is_auto = std::holds_alternative<AutoContext>(choice);
  return is_auto ? config.context_length : std::min(config.context_length, kDefaultContext);
}

}  // namespace

MemoryNeed memory_need(const model::ModelConfig& config, model::KvCacheType kv_type,
                       std::uint64_t file_bytes) {
  constexpr std::uint64_t kWorkingBytes = std::uint64_t{64} << 20U;
  return {.weight_bytes = file_bytes,
          .bytes_per_position = model::kv_block_bytes(config, kv_type) / model::kBlockTokens,
          .working_bytes = kWorkingBytes};
}

std::size_t plan_context(const ContextChoice& choice, const model::ModelConfig& config,
                         const MemoryNeed& need, std::uint64_t available_bytes) {
  const std::size_t wanted = wanted_context(choice, config);
  if (available_bytes == 0 || need.total(wanted) <= available_bytes) {
    return wanted;
  }
  const std::size_t fits = std::min(largest_that_fits(need, available_bytes), wanted);
  if (std::holds_alternative<AutoContext>(choice) && fits > 0) {
    return fits;
  }
  refuse(wanted, need, available_bytes, fits);
}

std::size_t plan_blocks(std::size_t context, std::size_t n_contexts, const MemoryNeed& need,
                        std::uint64_t available_bytes) {
  const std::size_t one = (context + model::kBlockTokens - 1) / model::kBlockTokens;
  const std::size_t further = one * (std::max<std::size_t>(n_contexts, 1) - 1);
  if (available_bytes == 0) {
    return one + further;
  }
  const std::uint64_t first = need.total(one * model::kBlockTokens);
  const std::uint64_t left = available_bytes > first ? available_bytes - first : 0;
  const std::uint64_t fits = left / 2 / (need.bytes_per_position * model::kBlockTokens);
  return one + std::min<std::uint64_t>(fits, further);
}

}  // namespace smol::app
