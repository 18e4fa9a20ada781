// What an answer is held to, from a request's words to a constraint over the model's tokens.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "chat/assistant.h"
#include "chat/message.h"
#include "engine/token_constraint.h"
#include "grammar/grammar.h"
#include "grammar/masks.h"
#include "grammar/vocabulary.h"
#include "text/tokenizer.h"

namespace smol::chat {

// Throws what AnswerForms::make() would throw.
void check(const AnswerForm& form, std::span<const ToolSpec> tools);

// Any thread. The tokenizer must outlive it and what it makes.
class AnswerForms {
 public:
  // `vocab_size`: of the model.
  AnswerForms(const text::Tokenizer& tokenizer, std::size_t vocab_size)
      : tokenizer_(tokenizer), vocab_size_(vocab_size) {}

  // nullptr: the answer is free. Throws Error{Unsupported} for a schema or a grammar that is not
  // supported or beyond the compiler's bounds, Error{BadInput} for one that is none, and where a
  // tool is required that is not among `tools`. The first call takes longer.
  std::unique_ptr<engine::TokenConstraint> make(const AnswerForm& form,
                                                std::span<const ToolSpec> tools);

 private:
  static constexpr std::size_t kMostKept = 16;

  // Forms compiled lately are kept with their masks, newest first.
  struct Kept {
    std::string key;
    std::shared_ptr<const grammar::TokenGrammar> grammar;
  };

  std::shared_ptr<const grammar::TokenGrammar> compiled(const AnswerForm& form,
                                                        std::span<const ToolSpec> tools);
  std::shared_ptr<const grammar::Vocabulary> vocabulary();

  const text::Tokenizer& tokenizer_;
  std::size_t vocab_size_;
  std::mutex mutex_;
  std::shared_ptr<const grammar::Vocabulary> vocabulary_;
  std::list<Kept> kept_;
};

}  // namespace smol::chat
