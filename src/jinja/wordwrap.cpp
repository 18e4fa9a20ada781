// The filter wordwrap: Python's textwrap.
#include <algorithm>
#include <string>
#include <vector>

#include "jinja/arguments.h"
#include "jinja/filter_functions.h"
#include "jinja/names.h"
#include "jinja/operators.h"
#include "jinja/string_methods.h"
#include "jinja/strings.h"
#include "jinja/text.h"
#include "jinja/unicode.h"

namespace smol::jinja::filters {
namespace {

struct WrapOptions {
  std::size_t width;
  bool break_long_words, break_on_hyphens;
};

bool is_wrap_space(char32_t c) noexcept {
  return (c >= U'\t' && c <= U'\r') || c == U' ';
}

bool is_letter(char32_t c) noexcept {
  return unicode::is_word(c) && !unicode::has(c, unicode::Property::Decimal);
}

bool is_word_punctuation(char32_t c) noexcept {
  return unicode::is_word(c) ||
         std::u32string_view(U"!\"'&.,?").find(c) != std::u32string_view::npos;
}

// Character ranges that lines are made of.
using Chunk = Range;

// Cuts a line where it may be broken.
class ChunkSplitter {
 public:
  explicit ChunkSplitter(const std::vector<Character>& line) : line_(line) {}

  std::vector<Chunk> split(bool on_hyphens) const {
    std::vector<Chunk> chunks;
    for (std::size_t at = 0; at < line_.size();) {
      const std::size_t end = on_hyphens ? chunk_end(at) : run_end(at);
      chunks.push_back({at, end});
      at = end;
    }
    return chunks;
  }

 private:
  char32_t at(std::size_t index) const noexcept {
    return index < line_.size() ? line_[index].code_point : U'\0';
  }

  // All white space or none.
  std::size_t run_end(std::size_t begin) const noexcept {
    std::size_t end = begin;
    while (end < line_.size() && is_wrap_space(at(end)) == is_wrap_space(at(begin))) {
      ++end;
    }
    return end;
  }

  std::size_t dashes_end(std::size_t begin) const noexcept {
    std::size_t end = begin;
    while (at(end) == U'-') {
      ++end;
    }
    return end;
  }

  // Two dashes or more at `begin`, a word after them and punctuation or a word before.
  bool is_em_dash(std::size_t begin) const noexcept {
    const std::size_t end = dashes_end(begin);
    return begin > 0 && end >= begin + 2 && end < line_.size() && unicode::is_word(at(end)) &&
           is_word_punctuation(at(begin - 1));
  }

  // The hyphen of a compound word.
  bool is_hyphen(std::size_t index) const noexcept {
    if (at(index) != U'-' || index < 2 || !is_letter(at(index - 1))) {
      return false;
    }
    const bool before = is_letter(at(index - 2)) ||
                        (index >= 3 && at(index - 2) == U'-' && is_letter(at(index - 3)));
    const std::size_t second = index + (at(index + 2) == U'-' ? 3 : 2);
    return before && index + 1 < line_.size() && is_letter(at(index + 1)) &&
           second < line_.size() && is_letter(at(second));
  }

  std::size_t chunk_end(std::size_t begin) const noexcept {
    if (is_wrap_space(at(begin))) {
      return run_end(begin);
    }
    if (is_em_dash(begin)) {
      return dashes_end(begin);
    }
    for (std::size_t end = begin + 1;; ++end) {
      if (end >= line_.size() || is_wrap_space(at(end)) || is_em_dash(end)) {
        return std::min(end, line_.size());
      }
      if (is_hyphen(end)) {
        return end + 1;
      }
    }
  }

  const std::vector<Character>& line_;
};

class Wrapper {
 public:
  Wrapper(Runtime& runtime, const MarkedString& line, const WrapOptions& options)
      : runtime_(runtime), text_(line), line_(characters(line.bytes())), options_(options) {
    chunks_ = ChunkSplitter(line_).split(options.break_on_hyphens);
    std::reverse(chunks_.begin(), chunks_.end());
  }

  std::vector<MarkedString> wrap() {
    std::vector<MarkedString> lines;
    while (!chunks_.empty()) {
      runtime_.budget().step();
      if (!lines.empty() && is_blank(chunks_.back())) {
        chunks_.pop_back();
      }
      std::vector<Chunk> line = take_line();
      if (!line.empty() && is_blank(line.back())) {
        line.pop_back();
      }
      if (!line.empty()) {
        lines.push_back(
            text_.substr(line_[line.front().begin].begin, line_[line.back().end - 1].end));
        runtime_.budget().charge(lines.back().size() + sizeof(MarkedString));
      }
    }
    return lines;
  }

 private:
  static std::size_t length(const Chunk& chunk) noexcept { return chunk.end - chunk.begin; }

  bool is_blank(const Chunk& chunk) const {
    for (std::size_t i = chunk.begin; i < chunk.end; ++i) {
      if (!unicode::has(line_[i].code_point, unicode::Property::Space)) {
        return false;
      }
    }
    return true;
  }

  std::vector<Chunk> take_line() {
    std::vector<Chunk> line;
    std::size_t used = 0;
    while (!chunks_.empty() && used + length(chunks_.back()) <= options_.width) {
      used += length(chunks_.back());
      line.push_back(chunks_.back());
      chunks_.pop_back();
    }
    if (!chunks_.empty() && length(chunks_.back()) > options_.width) {
      take_long_word(line, options_.width - used);
    }
    return line;
  }

  void take_long_word(std::vector<Chunk>& line, std::size_t space) {
    Chunk& chunk = chunks_.back();
    if (options_.break_long_words) {
      const std::size_t cut =
          chunk.begin + (options_.break_on_hyphens ? hyphen_cut(chunk, space) : space);
      if (cut > chunk.begin) {
        line.push_back({chunk.begin, cut});
      }
      chunk.begin = cut;
    } else if (line.empty()) {
      line.push_back(chunk);
      chunks_.pop_back();
    }
  }

  // Characters of the chunk to take: up to the last hyphen within `space`, if anything else stands
  // before it.
  std::size_t hyphen_cut(const Chunk& chunk, std::size_t space) const {
    for (std::size_t i = std::min(space, length(chunk)); i-- > 1;) {
      if (line_[chunk.begin + i].code_point == U'-') {
        const bool others =
            std::any_of(line_.begin() + static_cast<std::ptrdiff_t>(chunk.begin),
                        line_.begin() + static_cast<std::ptrdiff_t>(chunk.begin + i),
                        [](const Character& c) { return c.code_point != U'-'; });
        return others ? i + 1 : space;
      }
    }
    return space;
  }

  Runtime& runtime_;
  const MarkedString& text_;
  std::vector<Character> line_;
  WrapOptions options_;
  std::vector<Chunk> chunks_;  // reversed: the next one is the last
};

}  // namespace

Value wordwrap(Runtime& runtime, const Value& input, const CallArgs& call) {
  const Bound args(
      call, {"do_wordwrap", {"width", "break_long_words", "wrapstring", "break_on_hyphens"}});
  if (input.is_undefined()) {
    fail_undefined(input);
  }
  const MarkedString& text = require_text(input, "wordwrap");
  constexpr std::int64_t kDefault = 79;
  const std::int64_t width = args.has(0) ? to_index(args[0]) : kDefault;
  const MarkedString between =
      args.given(2) ? require_text(args[2], "wrapstring") : MarkedString("\n", Origin::Template);
  MarkedString out;
  bool first_paragraph = true;
  for (const MarkedString& paragraph : split_lines(runtime, text, false)) {
    if (width <= 0) {
      raise_value("invalid width " + std::to_string(width) + " (must be > 0)");
    }
    runtime.budget().charge(paragraph.size(), sizeof(Character) + sizeof(Chunk));
    Wrapper wrapper(runtime, paragraph,
                    {static_cast<std::size_t>(width), !args.has(1) || truthy(runtime, args[1]),
                     !args.has(3) || truthy(runtime, args[3])});
    out.append(first_paragraph ? MarkedString() : between);
    first_paragraph = false;
    bool first_line = true;
    for (const MarkedString& line : wrapper.wrap()) {
      runtime.budget().charge(between.size());
      out.append(first_line ? MarkedString() : between);
      first_line = false;
      out.append(line);
    }
  }
  return runtime.text(std::move(out));
}

}  // namespace smol::jinja::filters
