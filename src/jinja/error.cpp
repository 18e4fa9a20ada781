#include "jinja/error.h"

#include <algorithm>
#include <utility>

#include "base/utf8.h"

namespace smol::jinja {
namespace {

constexpr std::size_t kShownColumns = 160;

// The window of a long line around the column, and the caret under it.
std::string excerpt(const TemplateError::Place& place) {
  std::size_t begin = 0;
  std::string shown;
  std::string caret;
  const std::size_t first =
      place.column > kShownColumns / 2 ? place.column - kShownColumns / 2 : std::size_t{1};
  for (std::size_t column = 1; begin < place.text.size() && column < first + kShownColumns;
       ++column) {
    const std::size_t length = utf8::next(std::string_view(place.text).substr(begin)).length;
    if (column >= first) {
      const bool tab = place.text[begin] == '\t';
      shown += tab ? std::string(" ") : place.text.substr(begin, length);
      caret += column < place.column ? " " : "";
    }
    begin += length;
  }
  return "  " + shown + "\n  " + caret + "^";
}

}  // namespace

TemplateError::TemplateError(Phase phase, const std::string& message, Place place,
                             bool raised_by_template)
    : Error(ErrorCode::BadInput, "template line " + std::to_string(place.line) + ", column " +
                                     std::to_string(place.column) + ": " + message + "\n" +
                                     excerpt(place)),
      phase_(phase),
      message_(message),
      place_(std::move(place)),
      raised_by_template_(raised_by_template) {}

TemplateError::Place TemplateError::locate(std::string_view source, std::size_t offset) {
  offset = std::min(offset, source.size());
  const std::string_view before = source.substr(0, offset);
  const auto line = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')) + 1;
  const std::size_t newline = before.rfind('\n');
  const std::size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
  const std::string_view text = source.substr(begin, source.find('\n', offset) - begin);
  return {line, utf8::length(before.substr(begin)) + 1, std::string(text)};
}

}  // namespace smol::jinja
