#include "chat/scored_text.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

namespace smol::chat {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

}  // namespace

std::vector<TokenScore> ScoredText::show(std::string_view text) {
  std::vector<TokenScore> out;
  while (!text.empty() && !held_.empty()) {
    TokenScore& token = held_.front();
    const std::size_t rest = token.bytes.size() - shown_;
    const std::size_t size = std::min(rest, text.size());
    if (text.substr(0, size) == std::string_view(token.bytes).substr(shown_, size)) {
      text.remove_prefix(size);
      shown_ += size;
    } else if (shown_ == 0 && text.starts_with(kReplacement)) {
      // Bytes that are no character are shown as one that says so.
      token.bytes = kReplacement;
      text.remove_prefix(kReplacement.size());
      shown_ = token.bytes.size();
    } else {
      // White space that is not shown.
      token.bytes.erase(0, 1);
      shown_ = token.bytes.empty() ? 0 : shown_;
    }
    if (token.bytes.empty()) {
      held_.pop_front();
    } else if (shown_ == token.bytes.size()) {
      out.push_back(std::move(token));
      held_.pop_front();
      shown_ = 0;
    }
  }
  return out;
}

}  // namespace smol::chat
