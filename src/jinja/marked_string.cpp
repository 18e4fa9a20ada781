#include "jinja/marked_string.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace smol::jinja {

MarkedString::MarkedString(std::string bytes, Origin origin) : bytes_(std::move(bytes)) {
  if (origin == Origin::Template && !bytes_.empty()) {
    template_ranges_.push_back({0, bytes_.size()});
  }
}

Origin MarkedString::origin_at(std::size_t position) const noexcept {
  const auto after =
      std::upper_bound(template_ranges_.begin(), template_ranges_.end(), position,
                       [](std::size_t value, const Range& range) { return value < range.begin; });
  const bool inside = after != template_ranges_.begin() && position < std::prev(after)->end;
  return inside ? Origin::Template : Origin::Input;
}

Origin MarkedString::origin() const noexcept {
  const bool all = bytes_.empty() || (template_ranges_.size() == 1 &&
                                      template_ranges_.front() == Range{0, bytes_.size()});
  return all ? Origin::Template : Origin::Input;
}

void MarkedString::mark(std::size_t begin, std::size_t end) {
  if (begin == end) {
    return;
  }
  if (!template_ranges_.empty() && template_ranges_.back().end == begin) {
    template_ranges_.back().end = end;
  } else {
    template_ranges_.push_back({begin, end});
  }
}

void MarkedString::append(std::string_view bytes, Origin origin) {
  const std::size_t begin = bytes_.size();
  bytes_.append(bytes);
  if (origin == Origin::Template) {
    mark(begin, bytes_.size());
  }
}

void MarkedString::append(const MarkedString& other) {
  append(other, 0, other.size());
}

void MarkedString::append(const MarkedString& other, std::size_t begin, std::size_t end) {
  if (begin >= end) {
    return;
  }
  if (&other == this) {
    append(MarkedString(other), begin, end);
    return;
  }
  const std::size_t base = bytes_.size();
  bytes_.append(other.bytes_, begin, end - begin);
  auto it =
      std::upper_bound(other.template_ranges_.begin(), other.template_ranges_.end(), begin,
                       [](std::size_t value, const Range& range) { return value < range.end; });
  for (; it != other.template_ranges_.end() && it->begin < end; ++it) {
    mark(base + std::max(it->begin, begin) - begin, base + std::min(it->end, end) - begin);
  }
}

MarkedString MarkedString::with_bytes(std::string bytes) const {
  SMOL_CHECK(bytes.size() == bytes_.size());
  MarkedString result;
  result.bytes_ = std::move(bytes);
  result.template_ranges_ = template_ranges_;
  return result;
}

MarkedString MarkedString::substr(std::size_t begin, std::size_t end) const {
  MarkedString result;
  result.append(*this, begin, end);
  return result;
}

}  // namespace smol::jinja
