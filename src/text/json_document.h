// tokenizer.json, read in one pass: millions of bytes of vocabulary and merges go past the JSON
// tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/json.h"

namespace smol::text {

struct JsonDocument {
  struct Text {
    std::size_t begin;
    std::size_t length;
  };

  struct Entry {
    Text text;
    TokenId id;
  };

  struct Merge {
    Text left, right;  // right.length == 0: left holds both halves, "a b"
  };

  Json tree;                  // everything but model.vocab and model.merges
  std::string texts;          // of vocabulary and merges, one behind the other
  std::vector<Entry> vocab;   // in file order
  std::vector<Merge> merges;  // in file order
  bool has_vocab = false;     // as an object
  bool has_merges = false;    // as an array

  std::string_view view(Text text) const {
    return std::string_view(texts).substr(text.begin, text.length);
  }
};

// Throws Error{BadInput} for a document that is no JSON, nests deeper than 64 levels, has an object
// with over 4,096 members elsewhere than in model.vocab, or a vocabulary or merge of the wrong
// type.
JsonDocument read_json_document(std::string_view text);

}  // namespace smol::text
