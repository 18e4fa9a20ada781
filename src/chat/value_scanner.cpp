#include "chat/value_scanner.h"

#include "chat/literal.h"
#include "chat/space.h"

namespace smol::chat {
namespace {

bool may_stand_outside_strings(char c) noexcept {
  return is_space(c) || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
         (c >= 'A' && c <= 'Z') || std::string_view(":,+-.").find(c) != std::string_view::npos;
}

}  // namespace

ValueScanner::Status ValueScanner::advance(std::string_view text, std::size_t& at) {
  while (status_ == Status::Running && at < text.size()) {
    status_ = take(text[at++]);
  }
  return status_;
}

ValueScanner::Status ValueScanner::take(char c) {
  if (quote_ != 0) {
    if (escaped_) {
      escaped_ = false;
    } else if (c == '\\') {
      escaped_ = true;
    } else if (c == quote_) {
      quote_ = 0;
    }
    return Status::Running;
  }
  if (c == '{' || c == '[') {
    open_ += c == '{' ? '}' : ']';
    return open_.size() > kMaxLiteralDepth ? Status::Failed : Status::Running;
  }
  if (open_.empty()) {
    return Status::Failed;
  }
  if (c == '}' || c == ']') {
    if (open_.back() != c) {
      return Status::Failed;
    }
    open_.pop_back();
    return open_.empty() ? Status::Done : Status::Running;
  }
  if (c == '"' || c == '\'') {
    quote_ = c;
    return Status::Running;
  }
  return may_stand_outside_strings(c) ? Status::Running : Status::Failed;
}

}  // namespace smol::chat
