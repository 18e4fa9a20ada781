#include "grammar/ecma_pattern.h"

#include <functional>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/utf8.h"
#include "grammar/pattern_reader.h"

namespace smol::grammar {
namespace {

constexpr std::size_t kMaxPatternBytes = 8'192;
constexpr int kMaxPatternDepth = 64;
constexpr std::uint32_t kMaxRepetitions = 10'000;

// Expressions are built from the right: each part is given all that follows it, so that a
// lookahead can be an intersection with the rest of the text.
using Tail = std::function<Regex(Regex)>;

class PatternParser : private PatternReader {
 public:
  PatternParser(RegexPool& pool, std::string_view pattern) : PatternReader(pattern), pool_(pool) {}

  Regex parse() {
    const Tail whole = parse_options(0);
    if (at_ < text_.size()) {
      fail("unmatched )");
    }
    const Regex matched = whole(pool_.anything());
    return pool_.concat(pool_.anything(), matched);
  }

 private:
  Tail parse_options(int depth) {
    if (depth > kMaxPatternDepth) {
      refuse("nesting deeper than " + std::to_string(kMaxPatternDepth));
    }
    std::vector<Tail> options{parse_sequence(depth)};
    while (take("|")) {
      options.push_back(parse_sequence(depth));
    }
    if (options.size() == 1) {
      return options[0];
    }
    return [this, options](Regex rest) {
      std::vector<Regex> built;
      built.reserve(options.size());
      for (const Tail& option : options) {
        built.push_back(option(rest));
      }
      return pool_.either(built);
    };
  }

  Tail parse_sequence(int depth) {
    std::vector<Tail> terms;
    while (more() && text_[at_] != '|' && text_[at_] != ')') {
      terms.push_back(parse_term(depth));
    }
    return [terms](Regex rest) {
      for (std::size_t i = terms.size(); i-- > 0;) {
        rest = terms[i](rest);
      }
      return rest;
    };
  }

  Tail simple(Regex regex) {
    return [this, regex](Regex rest) { return pool_.concat(regex, rest); };
  }

  Tail parse_term(int depth) {
    if (take("^")) {
      return simple(pool_.begin());
    }
    if (take("$")) {
      return simple(pool_.end());
    }
    if (take("(?=")) {
      return parse_lookahead(depth, false);
    }
    if (take("(?!")) {
      return parse_lookahead(depth, true);
    }
    if (text_.substr(at_).starts_with("(?<=") || text_.substr(at_).starts_with("(?<!")) {
      refuse("lookbehind");
    }
    const std::size_t lookaheads = n_lookaheads_;
    const Tail atom = text_[at_] == '(' ? parse_group(depth) : simple(parse_atom());
    return parse_quantifier(atom, lookaheads != n_lookaheads_);
  }

  Tail parse_lookahead(int depth, bool negative) {
    ++n_lookaheads_;
    const Tail inner = parse_options(depth + 1);
    if (!take(")")) {
      fail("missing )");
    }
    return [this, inner, negative](Regex rest) {
      const Regex ahead = inner(pool_.anything());
      return pool_.both({negative ? pool_.except(ahead) : ahead, rest});
    };
  }

  Tail parse_group(int depth) {
    ++at_;
    if (take("?:")) {
    } else if (take("?<")) {
      while (more() && text_[at_] != '>') {
        ++at_;
      }
      if (!take(">")) {
        fail("unfinished name of a group");
      }
    } else if (more() && text_[at_] == '?') {
      fail("unknown kind of group");
    }
    Tail inner = parse_options(depth + 1);
    if (!take(")")) {
      fail("missing )");
    }
    return inner;
  }

  std::optional<std::uint32_t> parse_count() {
    std::optional<std::uint32_t> count;
    while (more() && text_[at_] >= '0' && text_[at_] <= '9') {
      count = count.value_or(0) * 10 + static_cast<std::uint32_t>(text_[at_++] - '0');
      if (*count > kMaxRepetitions) {
        refuse("a repetition above " + std::to_string(kMaxRepetitions));
      }
    }
    return count;
  }

  struct Range {
    std::uint32_t min, max;
  };

  std::optional<Range> parse_range() {
    if (take("*")) {
      return Range{0, RegexPool::kUnbounded};
    }
    if (take("+")) {
      return Range{1, RegexPool::kUnbounded};
    }
    if (take("?")) {
      return Range{0, 1};
    }
    if (!take("{")) {
      return std::nullopt;
    }
    const auto min = parse_count();
    if (!min) {
      fail("expected a number behind {");
    }
    Range range{*min, *min};
    if (take(",")) {
      range.max = parse_count().value_or(RegexPool::kUnbounded);
    }
    if (!take("}")) {
      fail("missing }");
    }
    if (range.max < range.min) {
      fail("numbers out of order in {}");
    }
    return range;
  }

  Tail parse_quantifier(const Tail& atom, bool has_lookahead) {
    const auto range = parse_range();
    if (!range) {
      return atom;
    }
    take("?");  // lazy or greedy: the same texts
    if (more() && (text_[at_] == '*' || text_[at_] == '+' || text_[at_] == '?')) {
      fail("nothing to repeat");
    }
    if (has_lookahead) {
      refuse("a repeated lookahead");
    }
    return simple(pool_.repeat(atom(pool_.empty()), range->min, range->max));
  }

  Regex parse_atom() {
    if (take(".")) {
      return pool_.one_of(not_line_ends());
    }
    if (take("[")) {
      return pool_.one_of(parse_class());
    }
    if (take("\\")) {
      return pool_.one_of(parse_escape(false));
    }
    const char found = text_[at_];
    if (found == '*' || found == '+' || found == '?') {
      fail("nothing to repeat");
    }
    const char32_t literal = character();
    return pool_.one_of({{literal, literal}});
  }

  RegexPool& pool_;
  std::size_t n_lookaheads_ = 0;
};

}  // namespace

Regex parse_pattern(RegexPool& pool, std::string_view pattern) {
  if (pattern.size() > kMaxPatternBytes) {
    throw Error(ErrorCode::Unsupported, "a regular expression longer than " +
                                            std::to_string(kMaxPatternBytes) +
                                            " bytes is not supported");
  }
  if (!utf8::is_valid(pattern)) {
    throw Error(ErrorCode::BadInput, "the regular expression is no UTF-8");
  }
  return PatternParser(pool, pattern).parse();
}

}  // namespace smol::grammar
