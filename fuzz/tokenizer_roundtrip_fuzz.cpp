// A small byte-level tokenizer with every kind of added token: encoding loses nothing, and a stream
// that is cut anywhere gives the whole text's ids. The first bytes of the input choose mode and
// cuts.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/json.h"
#include "base/utf8.h"
#include "text/stream_decoder.h"
#include "text/stream_encoder.h"
#include "text/tokenizer.h"

namespace {

using smol::Json;
using smol::TokenId;
using smol::text::AddedTokens;
using smol::text::Tokenizer;
using Ids = std::vector<TokenId>;

constexpr std::size_t kHeader = 3;

std::string spell(unsigned byte) {
  const auto printable = [](unsigned b) {
    return (b >= 0x21 && b <= 0x7E) || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE;
  };
  char32_t character = 256;
  for (unsigned b = 0; b < byte; ++b) {
    character += printable(b) ? 0 : 1;
  }
  std::string out;
  smol::utf8::append(out, printable(byte) ? byte : character);
  return out;
}

Json added_tokens(bool strips) {
  Json tokens = Json::array();
  const auto add = [&](const char* content, std::initializer_list<const char*> flags) {
    Json token{{"id", 400 + tokens.size()}, {"content", content}, {"normalized", false}};
    for (const char* flag : flags) {
      token[flag] = true;
    }
    tokens.push_back(token);
  };
  add("<|im_end|>", {"special"});
  add("<|im", {});
  add("  ", {});
  add("WORD", {"single_word"});
  add("NORM", {"single_word", "normalized"});
  add("x <", {"normalized"});
  if (strips) {
    add("<l>", {"lstrip"});
    add("<r>", {"rstrip"});
    add("<b>", {"lstrip", "rstrip", "special"});
    add(" n", {"normalized", "special", "lstrip"});
    add("\n<r", {});
    add("<r><l", {"single_word"});
  }
  return tokens;
}

Tokenizer make(bool strips, bool digits) {
  Json document;
  document["added_tokens"] = added_tokens(strips);
  document["pre_tokenizer"] = Json::parse(
      digits
          ? R"json({"type":"Sequence","pretokenizers":[{"type":"Digits","individual_digits":true},
                   {"type":"ByteLevel","add_prefix_space":false}]})json"
          : R"json({"type":"Sequence","pretokenizers":[{"type":"Split","pattern":{"Regex":
                   "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"},
                   "behavior":"Isolated"},{"type":"ByteLevel","add_prefix_space":false,"use_regex":false}]})json");
  Json vocab = Json::object();
  for (unsigned byte = 0; byte < 256; ++byte) {
    vocab[spell(byte)] = byte;
  }
  Json merges = Json::array();
  for (const std::string merge : {"t h", "th e", "a a", "aa aa", "n n", "1 2", "\u010A \u010A"}) {
    std::string both = merge;
    vocab[both.erase(both.find(' '), 1)] = 256 + merges.size();
    merges.push_back(merge);
  }
  document["model"] = {
      {"type", "BPE"}, {"ignore_merges", !digits}, {"vocab", vocab}, {"merges", merges}};
  return Tokenizer::parse_json(document.dump(), "fuzz");
}

void append(Ids& ids, const Ids& more) {
  ids.insert(ids.end(), more.begin(), more.end());
}

Ids encode_in_steps(const Tokenizer& tokenizer, AddedTokens mode, std::string_view text,
                    std::size_t step) {
  smol::text::StreamEncoder encoder(tokenizer, mode);
  Ids ids;
  for (std::size_t at = 0; at < text.size(); at += step) {
    append(ids, encoder.push(text.substr(at, step)));
  }
  append(ids, encoder.flush());
  return ids;
}

void check(const Tokenizer& tokenizer, bool lossless, AddedTokens mode, std::string_view text,
           std::size_t step) {
  const Ids ids = tokenizer.encode(text, mode);
  const std::string decoded = tokenizer.decode(ids, false);
  if (lossless || mode == AddedTokens::None) {
    SMOL_CHECK(decoded == smol::utf8::to_valid(text));
  }
  SMOL_CHECK(encode_in_steps(tokenizer, mode, text, step) == ids);
  smol::text::StreamDecoder decoder(tokenizer);
  std::string streamed;
  for (const TokenId id : ids) {
    streamed += decoder.push(id);
  }
  SMOL_CHECK(streamed + decoder.flush() == decoded);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Tokenizer kPlain = make(false, false);
  static const Tokenizer kStripping = make(true, false);
  static const Tokenizer kSingleDigits = make(true, true);
  if (size < kHeader) {
    return 0;
  }
  constexpr AddedTokens kModes[] = {AddedTokens::None, AddedTokens::OnlyNonSpecial,
                                    AddedTokens::All};
  const AddedTokens mode = kModes[data[0] % 3];
  const std::size_t step = 1 + data[1] % 32;
  const std::string text(data + kHeader, data + size);
  switch (data[2] % 3) {
    case 0:
      check(kPlain, true, mode, text, step);
      break;
    case 1:
      check(kStripping, false, mode, text, step);
      break;
    default:
      check(kSingleDigits, false, mode, text, step);
  }
  return 0;
}
