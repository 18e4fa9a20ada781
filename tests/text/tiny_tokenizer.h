// Tokenizers of a few hundred tokens: all single bytes, some merges, some added tokens.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/utf8.h"
#include "text/tokenizer.h"

namespace smol::text::test {

inline constexpr auto kBad = ErrorCode::BadInput;
inline constexpr auto kUnsupported = ErrorCode::Unsupported;

// GPT-2's character for a byte.
inline std::string spell(unsigned char byte) {
  const auto printable = [](unsigned b) {
    return (b >= 0x21 && b <= 0x7E) || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE;
  };
  char32_t character = byte;
  if (!printable(byte)) {
    character = 256;
    for (unsigned b = 0; b < byte; ++b) {
      character += printable(b) ? 0 : 1;
    }
  }
  std::string out;
  utf8::append(out, character);
  return out;
}

inline std::string spell(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) {
    out += spell(static_cast<unsigned char>(c));
  }
  return out;
}

struct TinyMerge {
  std::string_view left, right;
};

inline constexpr TokenId kFirstMerged = 256;

// Token i of them has id 256 + i, in both kinds of files.
inline const std::vector<TinyMerge>& tiny_merges() {
  static const std::vector<TinyMerge> kMerges{
      {"t", "h"},    {"th", "e"},       {" ", "the"},        {"a", "a"},
      {"aa", "aa"},  {" ", " "},        {"  ", "  "},        {"\n", "\n"},
      {".", "\n\n"}, {"1", "2"},        {"12", "3"},         {"\xC3", "\xA9"},
      {"c", "a"},    {"f", "\xC3\xA9"}, {"ca", "f\xC3\xA9"}, {"i", "n"}};
  return kMerges;
}

inline constexpr TokenId kUnmerged = 300;  // "xyz": in the vocabulary, but no merges make it
inline constexpr TokenId kImStart = 310, kImEnd = 311, kThink = 312, kIm = 313, kEndOfText = 314;

inline Json added_token(TokenId id, std::string_view content, bool special) {
  return Json{{"id", id},        {"content", content},   {"special", special}, {"lstrip", false},
              {"rstrip", false}, {"single_word", false}, {"normalized", false}};
}

inline Json llama3_pre_tokenizer() {
  return Json::parse(R"json({"type":"Sequence","pretokenizers":[{"type":"Split","pattern":{"Regex":
      "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"},
      "behavior":"Isolated","invert":false},
      {"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,"use_regex":false}]})json");
}

inline Json smollm2_pre_tokenizer() {
  return Json::parse(
      R"json({"type":"Sequence","pretokenizers":[{"type":"Digits","individual_digits":true},
      {"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,"use_regex":true}]})json");
}

inline Json tiny_document() {
  Json vocab = Json::object();
  for (int byte = 0; byte < 256; ++byte) {
    vocab[spell(static_cast<unsigned char>(byte))] = byte;
  }
  Json merges = Json::array();
  TokenId id = kFirstMerged;
  for (const TinyMerge& merge : tiny_merges()) {
    vocab[spell(std::string(merge.left) + std::string(merge.right))] = id++;
    merges.push_back(spell(merge.left) + " " + spell(merge.right));
  }
  vocab["xyz"] = kUnmerged;
  Json document;
  document["version"] = "1.0";
  document["added_tokens"] = {
      added_token(kImStart, "<|im_start|>", true), added_token(kImEnd, "<|im_end|>", true),
      added_token(kThink, "<think>", false), added_token(kIm, "<|im", false),
      added_token(kEndOfText, "<|endoftext|>", true)};
  document["normalizer"] = nullptr;
  document["pre_tokenizer"] = llama3_pre_tokenizer();
  document["decoder"] = {{"type", "ByteLevel"}};
  document["model"] = {{"type", "BPE"},          {"dropout", nullptr},    {"unk_token", nullptr},
                       {"byte_fallback", false}, {"ignore_merges", true}, {"vocab", vocab},
                       {"merges", merges}};
  return document;
}

inline Tokenizer tiny(const Json& document = tiny_document()) {
  return Tokenizer::parse_json(document.dump(), "tiny.json");
}

}  // namespace smol::text::test
