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

  std::size_t size() const noexcept { return bytes_.size(); }

  bool empty() const noexcept { return bytes_.empty(); }

  // The ranges that the template wrote: ascending, disjoint, not adjacent.
  const std::vector<Range>& template_ranges() const noexcept { return template_ranges_; }

  // Who wrote the byte at `position` (< size()).
  Origin origin_at(std::size_t position) const noexcept;
  // Template if the template wrote every byte, Input otherwise; Template for the empty string.
  Origin origin() const noexcept;

  void append(std::string_view bytes, Origin origin);
  void append(const MarkedString& other);
  // Bytes [begin, end) of `other`.
  void append(const MarkedString& other, std::size_t begin, std::size_t end);

  void reserve(std::size_t bytes) { bytes_.reserve(bytes); }

  // The same ranges over other bytes. Requires: as many bytes.
  MarkedString with_bytes(std::string bytes) const;
  MarkedString substr(std::size_t begin, std::size_t end) const;  // bytes [begin, end)

 private:
  void mark(std::size_t begin, std::size_t end);

  std::string bytes_;
  std::vector<Range> template_ranges_;
};

}  // namespace smol::jinja
