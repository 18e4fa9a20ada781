#include "app/line_diff.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace smol::app {
namespace {

using Lines = std::span<const std::string_view>;

constexpr std::size_t kMaxLines = 4000;

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// Length of the longest common subsequence of a[i..] and b[j..], for all i and j: row-major.
class CommonLengths {
 public:
  CommonLengths(Lines a, Lines b) : n_cols_(b.size() + 1), lengths_((a.size() + 1) * n_cols_) {
    for (std::size_t i = a.size(); i-- > 0;) {
      for (std::size_t j = b.size(); j-- > 0;) {
        lengths_[i * n_cols_ + j] =
            a[i] == b[j] ? at(i + 1, j + 1) + 1 : std::max(at(i + 1, j), at(i, j + 1));
      }
    }
  }

  std::uint32_t at(std::size_t i, std::size_t j) const { return lengths_[i * n_cols_ + j]; }

 private:
  std::size_t n_cols_;
  std::vector<std::uint32_t> lengths_;
};

std::vector<std::string> walk(Lines a, Lines b) {
  std::vector<std::string> difference;
  const bool comparable = a.size() <= kMaxLines && b.size() <= kMaxLines;
  const CommonLengths common(comparable ? a : Lines{}, comparable ? b : Lines{});
  std::size_t i = 0;
  std::size_t j = 0;
  while (comparable && i < a.size() && j < b.size()) {
    if (a[i] == b[j]) {
      ++i;
      ++j;
    } else if (common.at(i + 1, j) >= common.at(i, j + 1)) {
      difference.push_back("- " + std::string(a[i++]));
    } else {
      difference.push_back("+ " + std::string(b[j++]));
    }
  }
  for (; i < a.size(); ++i) {
    difference.push_back("- " + std::string(a[i]));
  }
  for (; j < b.size(); ++j) {
    difference.push_back("+ " + std::string(b[j]));
  }
  return difference;
}

}  // namespace

std::vector<std::string> line_diff(std::string_view before, std::string_view after) {
  const std::vector<std::string_view> a = split_lines(before);
  const std::vector<std::string_view> b = split_lines(after);
  std::size_t head = 0;
  while (head < a.size() && head < b.size() && a[head] == b[head]) {
    ++head;
  }
  std::size_t tail = 0;
  while (tail < a.size() - head && tail < b.size() - head &&
         a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) {
    ++tail;
  }
  return walk(Lines(a).subspan(head, a.size() - head - tail),
              Lines(b).subspan(head, b.size() - head - tail));
}

}  // namespace smol::app
