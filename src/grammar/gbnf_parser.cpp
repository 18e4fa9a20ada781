#include "grammar/gbnf_parser.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/utf8.h"

namespace smol::grammar {
namespace {

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_';
}

class GbnfParser {
 public:
  explicit GbnfParser(std::string_view text) : text_(text) {}

  GbnfTree parse() {
    skip_space(true);
    while (more()) {
      parse_rule();
      skip_space(true);
    }
    for (const auto& [name, use] : uses_) {
      if (!defined_[use.rule]) {
        fail_gbnf(text_, use.offset, "rule \"" + name + "\" is not defined");
      }
    }
    const auto root = uses_.find("root");
    if (root == uses_.end()) {
      fail_gbnf(text_, text_.size(), "expected a rule named root, found none");
    }
    tree_.root = root->second.rule;
    return std::move(tree_);
  }

 private:
  struct Use {
    std::size_t rule, offset;
  };

  bool more() const { return at_ < text_.size(); }

  bool next_is(char c) const { return more() && text_[at_] == c; }

  [[noreturn]] void fail(const std::string& expected) const {
    const std::string found = !more()              ? "the end"
                              : text_[at_] == '\n' ? "the line's end"
                                                   : "\"" + character_here() + "\"";
    fail_gbnf(text_, at_, "expected " + expected + ", found " + found);
  }

  std::string character_here() const {
    return std::string(text_.substr(at_, utf8::next(text_.substr(at_)).length));
  }

  void skip_space(bool over_lines) {
    while (more()) {
      const char c = text_[at_];
      if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (c == ' ' || c == '\t' || (over_lines && (c == '\r' || c == '\n'))) {
        ++at_;
      } else {
        return;
      }
    }
  }

  std::string_view parse_name() {
    const std::size_t begin = at_;
    while (more() && is_name_character(text_[at_])) {
      ++at_;
    }
    if (begin == at_) {
      fail("a rule's name");
    }
    return text_.substr(begin, at_ - begin);
  }

  std::size_t rule_named(std::string_view name, std::size_t offset) {
    const auto [found, is_new] =
        uses_.try_emplace(std::string(name), Use{tree_.rules.size(), offset});
    if (is_new) {
      tree_.rules.push_back({std::string(name), offset, {}});
      defined_.push_back(false);
    }
    return found->second.rule;
  }

  void parse_rule() {
    const std::size_t begin = at_;
    const std::size_t rule = rule_named(parse_name(), begin);
    if (defined_[rule]) {
      fail_gbnf(text_, begin, "rule \"" + tree_.rules[rule].name + "\" is defined twice");
    }
    defined_[rule] = true;
    skip_space(false);
    if (!text_.substr(at_).starts_with("::=")) {
      fail("::=");
    }
    at_ += 3;
    skip_space(true);
    GbnfNode body = parse_choice(0);
    tree_.rules[rule].body = std::move(body);
    tree_.rules[rule].offset = begin;
    if (more() && text_[at_] != '\n' && text_[at_] != '\r') {
      fail("a text, a class, a rule's name, | or the line's end");
    }
  }

  // Whether the rule goes on on a later line, with |.
  bool continues_below() {
    const std::size_t begin = at_;
    skip_space(true);
    if (next_is('|')) {
      return true;
    }
    at_ = begin;
    return false;
  }

  GbnfNode parse_choice(int depth) {
    if (depth > GbnfTree::kMaxDepth) {
      fail("nesting of at most " + std::to_string(GbnfTree::kMaxDepth));
    }
    GbnfNode choice;
    choice.kind = GbnfNode::Kind::Choice;
    choice.parts.push_back(parse_sequence(depth));
    while (next_is('|') || (depth == 0 && continues_below())) {
      ++at_;
      skip_space(true);
      choice.parts.push_back(parse_sequence(depth));
    }
    return choice.parts.size() == 1 ? std::move(choice.parts[0]) : choice;
  }

  GbnfNode parse_sequence(int depth) {
    GbnfNode sequence;
    while (more()) {
      const char c = text_[at_];
      if (c != '"' && c != '[' && c != '(' && c != '.' && !is_name_character(c)) {
        break;
      }
      sequence.parts.push_back(parse_repeated(parse_item(depth)));
      skip_space(depth > 0);
    }
    return sequence;
  }

  GbnfNode parse_item(int depth) {
    GbnfNode node;
    if (next_is('"')) {
      node.kind = GbnfNode::Kind::Text;
      ++at_;
      while (!next_is('"')) {
        utf8::append(node.text, parse_character("\" at the text's end"));
      }
      ++at_;
    } else if (next_is('[')) {
      ++at_;
      node.kind = GbnfNode::Kind::Chars;
      node.chars = parse_class();
    } else if (next_is('.')) {
      ++at_;
      node.kind = GbnfNode::Kind::Chars;
      node.chars = any_character();
    } else if (next_is('(')) {
      ++at_;
      skip_space(true);
      node = parse_choice(depth + 1);
      if (!next_is(')')) {
        fail(")");
      }
      ++at_;
    } else {
      const std::size_t begin = at_;
      node.kind = GbnfNode::Kind::Call;
      node.rule = rule_named(parse_name(), begin);
    }
    return node;
  }

  CharSet parse_class() {
    const bool negated = next_is('^');
    at_ += negated ? 1 : 0;
    std::vector<CharRange> ranges;
    while (!next_is(']')) {
      const char32_t first = parse_character("] at the class's end");
      char32_t last = first;
      if (next_is('-') && at_ + 1 < text_.size() && text_[at_ + 1] != ']') {
        ++at_;
        last = parse_character("] at the class's end");
        if (last < first) {
          fail("a range in order before this");
        }
      }
      ranges.push_back({first, last});
    }
    ++at_;
    const CharSet set = make_set(std::move(ranges));
    return negated ? complement(set) : set;
  }

  char32_t parse_hex(std::size_t n_digits) {
    char32_t value = 0;
    for (std::size_t i = 0; i < n_digits; ++i, ++at_) {
      const char c = more() ? text_[at_] : ' ';
      const char lower = static_cast<char>(c | 0x20);
      if (c >= '0' && c <= '9') {
        value = value * 16 + static_cast<char32_t>(c - '0');
      } else if (lower >= 'a' && lower <= 'f') {
        value = value * 16 + static_cast<char32_t>(lower - 'a') + 10;
      } else {
        fail(std::to_string(n_digits) + " hexadecimal digits");
      }
    }
    if (value > kMaxCodePoint || (value >= 0xD800 && value <= 0xDFFF)) {
      fail("a code point before this");
    }
    return value;
  }

  char32_t parse_character(const std::string& end) {
    if (!more() || text_[at_] == '\n') {
      fail(end);
    }
    if (!next_is('\\')) {
      const utf8::Step step = utf8::next(text_.substr(at_));
      at_ += step.length;
      return step.code_point;
    }
    const char letter = ++at_ < text_.size() ? text_[at_] : ' ';
    ++at_;
    switch (letter) {
      case 'n':
        return U'\n';
      case 'r':
        return U'\r';
      case 't':
        return U'\t';
      case 'x':
        return parse_hex(2);
      case 'u':
        return parse_hex(4);
      case 'U':
        return parse_hex(8);
      case '\\':
      case '"':
      case '[':
      case ']':
      case '-':
      case '^':
        return static_cast<unsigned char>(letter);
      default:
        --at_;
        fail("one of n r t x u U \\ \" [ ] - ^ behind \\");
    }
  }

  std::optional<std::uint32_t> parse_number() {
    std::optional<std::uint32_t> number;
    while (more() && text_[at_] >= '0' && text_[at_] <= '9') {
      number = number.value_or(0) * 10 + static_cast<std::uint32_t>(text_[at_] - '0');
      if (*number > GbnfTree::kMaxRepetitions) {
        fail("at most " + std::to_string(GbnfTree::kMaxRepetitions) + " repetitions");
      }
      ++at_;
    }
    return number;
  }

  GbnfNode parse_repeated(GbnfNode item) {
    while (more()) {
      std::uint32_t min = 0;
      std::uint32_t max = GbnfTree::kUnbounded;
      if (next_is('+')) {
        min = 1;
      } else if (next_is('?')) {
        max = 1;
      } else if (!next_is('*') && !next_is('{')) {
        break;
      }
      if (text_[at_++] == '{') {
        parse_braces(min, max);
      }
      GbnfNode repeat;
      repeat.kind = GbnfNode::Kind::Repeat;
      repeat.min = min;
      repeat.max = max;
      repeat.parts.push_back(std::move(item));
      item = std::move(repeat);
      if (++n_stacked_ > GbnfTree::kMaxDepth) {
        fail("fewer repetitions of one item");
      }
    }
    n_stacked_ = 0;
    return item;
  }

  void parse_braces(std::uint32_t& min, std::uint32_t& max) {
    skip_space(false);
    const auto least = parse_number();
    if (!least && !next_is(',')) {
      fail("a number behind {");
    }
    min = least.value_or(0);
    max = min;
    skip_space(false);
    if (next_is(',')) {
      ++at_;
      skip_space(false);
      max = parse_number().value_or(GbnfTree::kUnbounded);
      skip_space(false);
    }
    if (!next_is('}')) {
      fail("}");
    }
    if (max < min) {
      fail("a second number that is not below the first");
    }
    ++at_;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int n_stacked_ = 0;
  GbnfTree tree_;
  std::map<std::string, Use, std::less<>> uses_;
  std::vector<bool> defined_;
};

}  // namespace

GbnfTree parse_gbnf(std::string_view text) {
  if (text.size() > GbnfTree::kMaxBytes) {
    throw Error(ErrorCode::Exhausted, "grammar: expected at most " +
                                          std::to_string(GbnfTree::kMaxBytes) + " bytes, found " +
                                          std::to_string(text.size()));
  }
  for (std::size_t at = 0; at < text.size();) {
    const utf8::Step step = utf8::next(text.substr(at));
    if (step.kind != utf8::Step::Kind::Character) {
      fail_gbnf(text, at, "expected UTF-8, found an invalid byte");
    }
    at += step.length;
  }
  return GbnfParser(text).parse();
}

void fail_gbnf(std::string_view text, std::size_t offset, const std::string& what) {
  constexpr std::size_t kShown = 60;  // bytes before and behind the place
  const std::string_view before = text.substr(0, offset);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t begin = before.rfind('\n') == before.npos ? 0 : before.rfind('\n') + 1;
  const std::size_t end = std::min(text.find('\n', offset), text.size());
  std::size_t first = std::max(begin, offset < kShown ? 0 : offset - kShown);
  while (first < offset && (static_cast<unsigned char>(text[first]) & 0xC0U) == 0x80) {
    ++first;
  }
  const std::string shown = utf8::to_valid(text.substr(first, std::min(end - first, 2 * kShown)));
  const std::size_t column = utf8::length(text.substr(begin, offset - begin)) + 1;
  const std::string indent(utf8::length(text.substr(first, offset - first)), ' ');
  throw Error(ErrorCode::BadInput, "grammar: line " + std::to_string(line) + ", column " +
                                       std::to_string(column) + ": " + what + "\n" + shown + "\n" +
                                       indent + "^");
}

}  // namespace smol::grammar
