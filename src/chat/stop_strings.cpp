#include "chat/stop_strings.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace smol::chat {
namespace {

// Bytes at the end of `text` that could begin `stop`: the longest proper prefix of it that `text`
// ends with.
std::size_t size_of_beginning(std::string_view text, std::string_view stop) noexcept {
  for (std::size_t size = std::min(text.size(), stop.size() - 1); size > 0; --size) {
    if (text.substr(text.size() - size) == stop.substr(0, size)) {
      return size;
    }
  }
  return 0;
}

}  // namespace

StopStrings::StopStrings(std::vector<std::string> stops) : stops_(std::move(stops)) {
  if (stops_.size() > kMaxCount) {
    throw Error(ErrorCode::BadInput, "stop: expected at most " + std::to_string(kMaxCount) +
                                         " strings, found " + std::to_string(stops_.size()));
  }
  for (std::size_t i = 0; i < stops_.size(); ++i) {
    if (stops_[i].empty() || stops_[i].size() > kMaxBytes) {
      throw Error(ErrorCode::BadInput, "stop[" + std::to_string(i) + "]: expected 1 to " +
                                           std::to_string(kMaxBytes) + " bytes, found " +
                                           std::to_string(stops_[i].size()));
    }
  }
}

std::vector<Piece> StopStrings::push(Piece piece) {
  if (stopped_ || piece.text.empty()) {
    return {};
  }
  text_ += piece.text;
  held_.push_back(std::move(piece));
  std::size_t first_end = std::string::npos;
  std::size_t cut = 0;
  std::size_t beginning = 0;
  for (const std::string& stop : stops_) {
    const std::size_t found = text_.find(stop);
    if (found != std::string::npos && found + stop.size() <= first_end) {
      const bool is_first = found + stop.size() < first_end;
      cut = is_first ? found : std::min(cut, found);
      first_end = found + stop.size();
    }
    beginning = std::max(beginning, size_of_beginning(text_, stop));
  }
  if (first_end != std::string::npos) {
    stopped_ = true;
    auto out = release(cut);
    held_.clear();
    text_.clear();
    return out;
  }
  return release(text_.size() - beginning);
}

std::vector<Piece> StopStrings::flush() {
  return release(text_.size());
}

std::vector<Piece> StopStrings::release(std::size_t size_bytes) {
  std::vector<Piece> out;
  std::size_t released = 0;
  std::size_t n_whole = 0;
  for (; n_whole < held_.size(); ++n_whole) {
    const std::size_t size = held_[n_whole].text.size();
    if (released + size > size_bytes) {
      break;
    }
    released += size;
    out.push_back(std::move(held_[n_whole]));
  }
  held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(n_whole));
  if (released < size_bytes && !held_.empty() && !held_.front().is_tag) {
    std::string& text = held_.front().text;
    const std::size_t size = size_bytes - released;
    out.push_back({text.substr(0, size), false});
    text.erase(0, size);
    released = size_bytes;
  }
  text_.erase(0, released);
  return out;
}

}  // namespace smol::chat
