// UTF-8: every step moves on, the repaired text is valid and stays as it is.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/utf8.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using smol::utf8::Step;
  const std::string text(data, data + size);
  std::string_view rest = text;
  std::string repaired;
  std::size_t characters = 0;
  while (!rest.empty()) {
    const Step step = smol::utf8::next(rest);
    SMOL_CHECK(step.length >= 1 && step.length <= rest.size() && step.length <= 4);
    if (step.kind == Step::Kind::Character) {
      std::string written;
      smol::utf8::append(written, step.code_point);
      SMOL_CHECK(written == rest.substr(0, step.length));
    } else {
      SMOL_CHECK(step.code_point == smol::utf8::kReplacement);
      SMOL_CHECK(step.kind == Step::Kind::Invalid || step.length == rest.size());
    }
    smol::utf8::append(repaired, step.code_point);
    ++characters;
    rest.remove_prefix(step.length);
  }
  const std::string valid = smol::utf8::to_valid(text);
  SMOL_CHECK(valid == repaired);
  SMOL_CHECK(smol::utf8::is_valid(valid));
  SMOL_CHECK(smol::utf8::to_valid(valid) == valid);
  SMOL_CHECK(smol::utf8::is_valid(text) == (valid == text));
  SMOL_CHECK(smol::utf8::length(text) == characters);
  return 0;
}
