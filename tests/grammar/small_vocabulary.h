// A vocabulary for tests: every byte, some longer tokens, two end tokens, one token that is never
// allowed.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "grammar/matcher.h"
#include "grammar/vocabulary.h"

namespace smol::grammar {

inline const std::vector<std::string>& small_tokens() {
  static const std::vector<std::string> kTokens = [] {
    std::vector<std::string> tokens;
    tokens.reserve(256);
    for (int byte = 0; byte < 256; ++byte) {
      tokens.emplace_back(1, static_cast<char>(byte));
    }
    for (const char* text : {"{\"",
                             "\":",
                             "\": ",
                             "\", \"",
                             ", ",
                             ",\n",
                             "\"}",
                             "}}",
                             "]}",
                             "[[",
                             "[{\"",
                             "true",
                             "null",
                             "false",
                             "abc",
                             "abcdef",
                             "name",
                             "\"name",
                             "a\"",
                             "12",
                             "123",
                             "-1",
                             ".5",
                             "e+1",
                             "\xC3",
                             "\xA9\"",
                             "\xC3\xA9",
                             "\xF0\x9F",
                             "\x98\x80",
                             "\\u",
                             "\\n",
                             "\\\"",
                             "00",
                             "\\u00",
                             "d8",
                             "3d\\u",
                             "this is a longer piece of text",
                             " a",
                             "a",
                             "\n",
                             "}\n",
                             "\"]",
                             "\"],\"",
                             "\",\"b\":"}) {
      tokens.emplace_back(text);
    }
    return tokens;
  }();
  return kTokens;
}

inline const TokenId kSpecial = static_cast<TokenId>(small_tokens().size());
inline const TokenId kEnd = kSpecial + 1, kOtherEnd = kSpecial + 2;

inline std::shared_ptr<const Vocabulary> small_vocabulary() {
  static const auto kVocabulary = [] {
    TokenTable table;
    table.bytes.assign(small_tokens().begin(), small_tokens().end());
    table.bytes.insert(table.bytes.end(), {"", "", ""});
    table.end_tokens = {kEnd, kOtherEnd};
    return std::make_shared<const Vocabulary>(table);
  }();
  return kVocabulary;
}

inline TokenId token_of(std::string_view bytes) {
  for (std::size_t id = small_tokens().size(); id-- > 0;) {
    if (small_tokens()[id] == bytes) {
      return static_cast<TokenId>(id);
    }
  }
  return -1;
}

inline Matcher matcher_for(const std::shared_ptr<const Grammar>& grammar) {
  return Matcher(std::make_shared<const TokenGrammar>(grammar, small_vocabulary()));
}

inline bool accept_text(Matcher& matcher, std::string_view text) {
  for (const char byte : text) {
    if (!matcher.accept(static_cast<TokenId>(static_cast<unsigned char>(byte)))) {
      return false;
    }
  }
  return true;
}

inline std::vector<TokenId> tokens_of(const std::vector<std::uint64_t>& mask) {
  std::vector<TokenId> allowed;
  for (std::size_t id = 0; id < mask.size() * 64; ++id) {
    if (((mask[id / 64] >> (id % 64)) & 1U) != 0) {
      allowed.push_back(static_cast<TokenId>(id));
    }
  }
  return allowed;
}

inline std::vector<TokenId> allowed_tokens(Matcher& matcher) {
  std::vector<std::uint64_t> mask(small_vocabulary()->mask_words());
  matcher.mask(mask);
  return tokens_of(mask);
}

inline std::vector<TokenId> allowed_tokens(Matcher& matcher, std::size_t tokens_left) {
  std::vector<std::uint64_t> mask(small_vocabulary()->mask_words());
  matcher.mask(mask, tokens_left);
  return tokens_of(mask);
}

}  // namespace smol::grammar
