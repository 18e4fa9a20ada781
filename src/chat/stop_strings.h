// Ends an answer at a string, also one that spans tokens, without showing any part of it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "chat/message.h"

namespace smol::chat {

// One answer; one thread.
class StopStrings {
 public:
  static constexpr std::size_t kMaxCount = 16;
  static constexpr std::size_t kMaxBytes = 1024;

  // Throws Error{BadInput} for an empty string, one that is too long, or too many.
  explicit StopStrings(std::vector<std::string> stops);

  // What may be shown now: everything but an end that could begin a stop string. The first stop
  // string to be complete counts; of those complete at once the longest. A tag that it reaches into
  // is not shown.
  std::vector<Piece> push(Piece piece);
  // The answer has ended otherwise: what was held back.
  std::vector<Piece> flush();

  bool stopped() const noexcept { return stopped_; }

 private:
  std::vector<Piece> release(std::size_t size_bytes);

  std::vector<std::string> stops_;
  std::vector<Piece> held_;
  std::string text_;  // of held_, joined
  bool stopped_ = false;
};

}  // namespace smol::chat
