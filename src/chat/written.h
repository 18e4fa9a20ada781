// An answer as it is written: parsed, and kept exactly as it came for the prompt of the next turn.
#pragma once

#include <string>
#include <vector>

#include "chat/message.h"
#include "chat/output_parser.h"

namespace smol::chat {

// One answer; one thread.
class WrittenAnswer {
 public:
  explicit WrittenAnswer(const OutputMode& mode) : parser_(mode), token_tags_(mode.token_tags) {}

  // What has become certain, also added up in parsed().
  std::vector<OutputEvent> take(const Piece& piece);
  std::vector<OutputEvent> finish();

  bool in_reasoning() const noexcept { return parser_.in_reasoning(); }

  const ParsedOutput& parsed() const noexcept { return parsed_; }

  // Sets the message's content, reasoning, calls, code and `written`. Requires: finish() was
  // called.
  void store_in(Message& message) const;

 private:
  std::vector<OutputEvent> add(std::vector<OutputEvent> events);
  std::vector<Piece> answer_pieces() const;

  OutputParser parser_;
  TagSet token_tags_;
  ParsedOutput parsed_;
  std::string raw_;
  std::vector<OutputParser::TagPlace>
      token_places_;  // of tag tokens, whether they had a meaning or not
};

}  // namespace smol::chat
