#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <string_view>

#include "base/error.h"
#include "engine/sampler.h"

namespace smol::engine {
namespace {

std::string text_of(double value) {
  std::array<char, 32> buffer{};
  const int size = std::snprintf(buffer.data(), buffer.size(), "%.9g", value);
  return {buffer.data(), static_cast<std::size_t>(size)};
}

[[noreturn]] void refuse(std::string_view field, std::string_view expected, double found) {
  throw Error(ErrorCode::BadInput, std::string(field) + ": expected " + std::string(expected) +
                                       ", found " + text_of(found));
}

void check_range(std::string_view field, double value, double low, double high) {
  if (!(value >= low && value <= high)) {
    refuse(field, text_of(low) + " to " + text_of(high), value);
  }
}

void check_above_zero(std::string_view field, double value, double high) {
  if (!(value > 0 && value <= high)) {
    refuse(field, "more than 0 and at most " + text_of(high), value);
  }
}

}  // namespace

void validate(const SamplingSettings& settings, std::size_t vocab_size) {
  constexpr double kLimit = 100;
  check_range("temperature", settings.temperature, 0, kLimit);
  check_above_zero("top_p", settings.top_p, 1);
  check_range("min_p", settings.min_p, 0, 1);
  check_above_zero("repetition_penalty", settings.repetition_penalty, kLimit);
  check_range("presence_penalty", settings.presence_penalty, -kLimit, kLimit);
  check_range("frequency_penalty", settings.frequency_penalty, -kLimit, kLimit);
  for (const LogitBias& entry : settings.logit_bias) {
    if (entry.id < 0 || static_cast<std::size_t>(entry.id) >= vocab_size) {
      throw Error(ErrorCode::BadInput, "logit_bias: expected token ids below " +
                                           std::to_string(vocab_size) + ", found " +
                                           std::to_string(entry.id));
    }
    check_range("logit_bias." + std::to_string(entry.id), entry.bias, -kLimit, kLimit);
  }
}

}  // namespace smol::engine
