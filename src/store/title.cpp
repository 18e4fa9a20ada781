#include "store/title.h"

#include <cstddef>

#include "base/utf8.h"

namespace smol::store {
namespace {

constexpr std::size_t kMostCharacters = 200;
constexpr std::size_t kMostOfAMessage = 60;

std::string first_line(std::string_view text, std::size_t most) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  text.remove_prefix(begin == text.npos ? text.size() : begin);
  text = text.substr(0, text.find_first_of("\r\n"));
  std::size_t end = 0;
  for (std::size_t count = 0; end < text.size(); ++count) {
    if (count == most) {
      return std::string(text.substr(0, end)) + "…";
    }
    end += utf8::next(text.substr(end)).length;
  }
  return std::string(text);
}

}  // namespace

std::string title_line(std::string_view text) {
  return first_line(text, kMostCharacters);
}

std::string first_title(std::string_view text, std::span<const Attachment> attachments) {
  std::string title = first_line(text, kMostOfAMessage);
  if (title.empty() && !attachments.empty()) {
    title = first_line(attachments.front().name, kMostOfAMessage);
  }
  return title.empty() ? "New conversation" : title;
}

}  // namespace smol::store
