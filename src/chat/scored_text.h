// Which token's score belongs to which part of the visible text: the text comes later than its
// tokens, without tags, thoughts and the white space behind them.
#pragma once

#include <deque>
#include <string_view>
#include <vector>

#include "chat/assistant.h"

namespace smol::chat {

// One answer; one thread.
class ScoredText {
 public:
  // A token whose bytes may become visible.
  void push(TokenScore score) { held_.push_back(std::move(score)); }

  // The scores of tokens whose bytes all stand in this next part of the visible text, or before it:
  // their bytes join to the text. A token of which only an end is visible keeps only that.
  std::vector<TokenScore> show(std::string_view text);

  // What is held belongs to no text.
  void drop() { held_.clear(); }

 private:
  std::deque<TokenScore> held_;
  std::size_t shown_ = 0;  // bytes of the first held one that are visible already
};

}  // namespace smol::chat
