// Bytes that remember, range by range, who wrote them: the template, or the input it was given.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace smol::jinja {

struct Range {
  std::size_t begin, end;  // bytes
  bool operator==(const Range&) const = default;
};

enum class Origin : unsigned char { Template, Input };

// UTF-8. A value type; adjacent ranges of one origin are always merged.
class MarkedString {
 public:
  MarkedString() = default;
  MarkedString(std::string bytes, Origin origin);

  const std::string& bytes() const noexcept { return bytes_; }
  // The ranges that the template wrote: ascending, disjoint, not adjacent.
  const std::vector<Range>& template_ranges() const noexcept { return template_ranges_; }

  void append(std::string_view bytes, Origin origin);
  void append(const MarkedString& other);
  MarkedString substr(std::size_t begin, std::size_t end) const;  // bytes [begin, end)

 private:
  std::string bytes_;
  std::vector<Range> template_ranges_;
};

}  // namespace smol::jinja
