#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "app/doctor_checks.h"
#include "gguf/printable.h"

namespace smol::app {
namespace {

using gguf::printable;

constexpr std::string_view kRemedy =
    "give --tokenizer tokenizer.json of the original model, or get another file";

constexpr std::array<std::string_view, 6> kTexts{
    "Hello, world! It's 2025-07-08; don't panic.",
    "  two spaces\n\n\ttab and\r\nlines   ",
    "Gr\xC3\xBC\xC3\x9F"
    "e, \xC4\xB0stanbul, Vi\xE1\xBB\x87t Nam, \xD0\x9C\xD0\xBE\xD1\x81\xD0\xBA\xD0\xB2\xD0\xB0",
    "\xE6\x97\xA5\xE6\x9C\xAC\xE8\xAA\x9E \xED\x95\x9C\xEA\xB5\xAD\xEC\x96\xB4 "
    "\xD8\xB9\xD8\xB1\xD8\xA8\xD9\x8A",
    "\xF0\x9F\x98\x80 \xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x92\xBB e\xCC\x81",
    "for (int i = 0; i < 1000000; ++i) { x[i] *= 3.14159; }"};

// Text that comes back from its ids.
std::size_t count_round_trips(const text::Tokenizer& tokenizer, Findings& findings) {
  std::size_t n_right = 0;
  for (const std::string_view text : kTexts) {
    const std::string back = tokenizer.decode(tokenizer.encode(text), false);
    if (back == text) {
      ++n_right;
    } else {
      findings.fault("tokenizer",
                     fmt::format("round trip: expected \"{}\", found \"{}\"", printable(text),
                                 printable(back)),
                     std::string(kRemedy));
    }
  }
  return n_right;
}

// Each added token is one id where a template writes it, and none of them where a user does.
std::size_t count_added(const text::Tokenizer& tokenizer, Findings& findings) {
  std::size_t n_right = 0;
  for (std::size_t i = 0; i < tokenizer.vocab_size(); ++i) {
    const auto id = static_cast<TokenId>(i);
    if (!tokenizer.is_added(id)) {
      continue;
    }
    const std::string content(tokenizer.bytes_of(id));
    const std::vector<TokenId> found = tokenizer.encode(content, text::AddedTokens::All);
    const std::vector<TokenId> hidden = tokenizer.encode(content, text::AddedTokens::None);
    const bool leaks = hidden.size() == 1 && hidden.front() == id;
    if (found == std::vector<TokenId>{id} && !leaks) {
      ++n_right;
    } else {
      findings.fault("tokenizer",
                     fmt::format("added token \"{}\": expected id {} in a template and plain text "
                                 "in a message, found otherwise",
                                 printable(content), id),
                     std::string(kRemedy));
    }
  }
  return n_right;
}

}  // namespace

void check_tokenizer(const text::Tokenizer& tokenizer, Findings& findings) {
  const std::size_t n_texts = count_round_trips(tokenizer, findings);
  const std::size_t n_added = count_added(tokenizer, findings);
  findings.good("tokenizer", fmt::format("{} of {} texts come back, {} added tokens are found",
                                         n_texts, kTexts.size(), n_added));
}

}  // namespace smol::app
