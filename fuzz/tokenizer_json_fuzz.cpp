// tokenizer.json from anywhere: it is read, or refused with an Error of one line; what was read
// encodes and decodes.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/error.h"
#include "text/stream_encoder.h"
#include "text/tokenizer.h"

namespace {

constexpr std::string_view kText =
    "The  caf\u00E9's 1234.\n\n <think>\t\u4E2D\U0001F600<|im_end|> \xFF";

void use(const smol::text::Tokenizer& tokenizer) {
  const auto ids = tokenizer.encode(kText);
  tokenizer.decode(ids, false);
  tokenizer.decode(ids, true);
  smol::text::StreamEncoder encoder(tokenizer);
  auto streamed = encoder.push(kText.substr(0, 20));
  for (const auto& more : {encoder.push(kText.substr(20)), encoder.flush()}) {
    streamed.insert(streamed.end(), more.begin(), more.end());
  }
  SMOL_CHECK(streamed == ids);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  try {
    use(smol::text::Tokenizer::parse_json(text, "fuzz.json"));
  } catch (const smol::Error& error) {
    SMOL_CHECK(std::string_view(error.what()).find('\n') == std::string_view::npos);
  }
  return 0;
}
