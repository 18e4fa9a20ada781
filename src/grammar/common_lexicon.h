// The states that every lexicon begins with.
#pragma once

#include "grammar/lexicon.h"

namespace smol::grammar {

struct CommonLexicon {
  Lexicon lexicon;
  CommonStates states;

  // Built once a process.
  static const CommonLexicon& get();

 private:
  CommonLexicon();
  void add_separators();
  LexState add_literal_word(const char* word);
  LexState space_then(LexState inner);
  LexState byte_then(char byte, LexState to);
  void add_string();
  LexState add_escape(LexState inside);
  void add_continuations(LexState inside);
  void add_numbers();
};

}  // namespace smol::grammar
