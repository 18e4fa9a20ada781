#include "jinja/lexer.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/utf8.h"
#include "jinja/fault.h"
#include "jinja/literals.h"
#include "jinja/strings.h"
#include "jinja/unicode.h"

namespace smol::jinja {
namespace {

struct Operator {
  std::string_view text;
  TokenType type;
};

// Longest first.
constexpr std::array kOperators = std::to_array<Operator>({
    {"//", TokenType::FloorDiv}, {"**", TokenType::Pow},      {"==", TokenType::Eq},
    {"!=", TokenType::Ne},       {">=", TokenType::GtEq},     {"<=", TokenType::LtEq},
    {"+", TokenType::Add},       {"-", TokenType::Sub},       {"/", TokenType::Div},
    {"*", TokenType::Mul},       {"%", TokenType::Mod},       {"~", TokenType::Tilde},
    {"[", TokenType::LBracket},  {"]", TokenType::RBracket},  {"(", TokenType::LParen},
    {")", TokenType::RParen},    {"{", TokenType::LBrace},    {"}", TokenType::RBrace},
    {">", TokenType::Gt},        {"<", TokenType::Lt},        {"=", TokenType::Assign},
    {".", TokenType::Dot},       {":", TokenType::Colon},     {"|", TokenType::Pipe},
    {",", TokenType::Comma},     {";", TokenType::Semicolon},
});

std::size_t spaces(std::string_view text, std::size_t at) noexcept {
  return at + strip_range(text.substr(at), Side::Left, unicode::is_space).begin;
}

bool starts_with(std::string_view text, std::size_t at, std::string_view part) noexcept {
  return text.substr(std::min(at, text.size()), part.size()) == part;
}

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(source) {}

  LexedSource run() {
    try {
      while (at_ < source_.size()) {
        lex_root();
      }
      add(TokenType::Eof, source_.size());
    } catch (const SyntaxError& error) {
      result_.error.push_back(error);
    }
    return std::move(result_);
  }

 private:
  void add(TokenType type, std::size_t offset, std::string text = {}, Value number = {}) {
    result_.tokens.push_back({type, offset, std::move(text), std::move(number)});
  }

  [[noreturn]] static void fail(std::string message, std::size_t offset) {
    throw SyntaxError{std::move(message), offset};
  }

  bool here(std::string_view part) const noexcept { return starts_with(source_, at_, part); }

  // Template data up to the next tag, then the tag.
  void lex_root() {
    const std::size_t tag = find_tag();
    if (tag == source_.size()) {
      add_data(at_, source_.size());
      at_ = source_.size();
      return;
    }
    const char kind = source_[tag + 1];
    const std::optional<std::size_t> raw = kind == '%' ? match_raw_begin(tag) : std::nullopt;
    const char sign = tag + 2 < source_.size() ? source_[tag + 2] : '\0';
    add_data_before_tag(at_, tag, sign, kind != '{');
    at_ = tag + 2 + (sign == '-' || sign == '+' ? 1 : 0);
    line_starting_ = false;
    if (raw) {
      at_ = *raw;
      line_starting_ = source_[at_ - 1] == '\n';
      lex_raw();
    } else if (kind == '#') {
      lex_comment();
    } else {
      add(kind == '{' ? TokenType::VariableBegin : TokenType::BlockBegin, tag);
      lex_tag(kind == '{');
    }
  }

  // The next {{, {% or {#.
  std::size_t find_tag() const noexcept {
    for (std::size_t tag = source_.find('{', at_); tag != std::string_view::npos;
         tag = source_.find('{', tag + 1)) {
      const char kind = tag + 1 < source_.size() ? source_[tag + 1] : '\0';
      if (kind == '{' || kind == '%' || kind == '#') {
        return tag;
      }
    }
    return source_.size();
  }

  void add_data(std::size_t begin, std::size_t end) {
    if (begin < end) {
      add(TokenType::Data, begin, std::string(source_.substr(begin, end - begin)));
    }
  }

  // `-` strips all white space before the tag; otherwise lstrip_blocks strips the line's, if the
  // tag starts it.
  void add_data_before_tag(std::size_t begin, std::size_t end, char sign, bool lstrips) {
    const std::string_view text = source_.substr(begin, end - begin);
    std::size_t keep = text.size();
    if (sign == '-') {
      keep = strip_range(text, Side::Right, unicode::is_space).end;
    } else if (sign != '+' && lstrips) {
      const std::size_t newline = text.rfind('\n');
      const std::size_t line = newline == std::string_view::npos ? 0 : newline + 1;
      if ((line > 0 || line_starting_) && spaces(text, line) == text.size()) {
        keep = line;
      }
    }
    add_data(begin, begin + keep);
  }

  // {%[-+]? raw -?%}: the byte after it.
  std::optional<std::size_t> match_raw_begin(std::size_t tag) const {
    std::size_t at = tag + 2;
    at += at < source_.size() && (source_[at] == '-' || source_[at] == '+') ? 1 : 0;
    at = spaces(source_, at);
    if (!starts_with(source_, at, "raw")) {
      return std::nullopt;
    }
    at = spaces(source_, at + 3);
    if (starts_with(source_, at, "-%}")) {
      return spaces(source_, at + 3);
    }
    return starts_with(source_, at, "%}") ? std::optional(at + 2) : std::nullopt;
  }

  // The byte after the end mark at `at`; nullopt: there is none. `-` eats white space, nothing eats
  // one newline.
  std::optional<std::size_t> match_end(std::size_t at, std::string_view mark, bool trims) const {
    if (starts_with(source_, at, "-") && starts_with(source_, at + 1, mark)) {
      return spaces(source_, at + 1 + mark.size());
    }
    if (trims && starts_with(source_, at, "+") && starts_with(source_, at + 1, mark)) {
      return at + 1 + mark.size();
    }
    if (!starts_with(source_, at, mark)) {
      return std::nullopt;
    }
    const std::size_t end = at + mark.size();
    return end + (trims && starts_with(source_, end, "\n") ? 1 : 0);
  }

  void leave_tag(std::size_t end) {
    at_ = end;
    line_starting_ = source_[end - 1] == '\n';
  }

  void lex_comment() {
    const std::size_t begin = at_;
    if (const std::size_t mark = source_.find("#}", begin); mark != std::string_view::npos) {
      const bool sign = mark > begin && (source_[mark - 1] == '-' || source_[mark - 1] == '+');
      leave_tag(*match_end(sign ? mark - 1 : mark, "#}", true));
      return;
    }
    if (begin < source_.size()) {
      fail("Missing end of comment tag", begin);
    }
  }

  void lex_raw() {
    const std::size_t begin = at_;
    for (std::size_t tag = source_.find("{%", begin); tag != std::string_view::npos;
         tag = source_.find("{%", tag + 1)) {
      const char sign = tag + 2 < source_.size() ? source_[tag + 2] : '\0';
      std::size_t at = spaces(source_, tag + 2 + (sign == '-' || sign == '+' ? 1 : 0));
      if (!starts_with(source_, at, "endraw")) {
        continue;
      }
      at = spaces(source_, at + 6);
      if (const auto end = match_end(at, "%}", true)) {
        add_data_before_tag(begin, tag, sign, true);
        leave_tag(*end);
        return;
      }
    }
    if (begin < source_.size()) {
      fail("Missing end of raw directive", begin);
    }
  }

  // Tokens up to the end of a {{ }} or {% %}.
  void lex_tag(bool variable) {
    open_.clear();
    while (at_ < source_.size()) {
      if (open_.empty()) {
        if (const auto end = match_end(at_, variable ? "}}" : "%}", !variable)) {
          add(variable ? TokenType::VariableEnd : TokenType::BlockEnd, at_);
          leave_tag(*end);
          return;
        }
      }
      lex_token();
    }
  }

  void lex_token() {
    const std::string_view rest = source_.substr(at_);
    const auto step = utf8::next(rest);
    if (unicode::is_space(step.code_point)) {
      at_ = spaces(source_, at_);
      return;
    }
    const bool after_dot = at_ > 0 && source_[at_ - 1] == '.';
    if (const std::size_t length = after_dot ? 0 : match_float(rest)) {
      add(TokenType::Float, at_, {}, float_literal(rest.substr(0, length)));
      at_ += length;
    } else if (const std::size_t integer = match_integer(rest)) {
      lex_integer(rest.substr(0, integer));
    } else if (is_name_character(step.code_point)) {
      lex_name();
    } else if (rest[0] == '"' || rest[0] == '\'') {
      lex_string(rest);
    } else {
      lex_operator(rest);
    }
  }

  static bool is_name_character(char32_t c) noexcept {
    return unicode::is_word(c) || unicode::has(c, unicode::Property::IdContinue);
  }

  void lex_integer(std::string_view text) {
    try {
      add(TokenType::Integer, at_, {}, integer_literal(text));
    } catch (const Fault& fault) {
      fail(fault.what(), at_);
    }
    at_ += text.size();
  }

  void lex_name() {
    const std::size_t begin = at_;
    bool valid = true;
    while (at_ < source_.size()) {
      const auto step = utf8::next(source_.substr(at_));
      if (!is_name_character(step.code_point)) {
        break;
      }
      valid = valid && unicode::has(step.code_point, at_ == begin ? unicode::Property::IdStart
                                                                  : unicode::Property::IdContinue);
      at_ += step.length;
    }
    if (!valid) {
      fail("Invalid character in identifier", begin);
    }
    add(TokenType::Name, begin, std::string(source_.substr(begin, at_ - begin)));
  }

  void lex_string(std::string_view rest) {
    std::size_t end = 1;
    while (end < rest.size() && rest[end] != rest[0]) {
      end += rest[end] == '\\' ? 2 : 1;
    }
    if (end >= rest.size()) {
      fail_character();
    }
    try {
      add(TokenType::String, at_, unescape_literal(rest.substr(1, end - 1)));
    } catch (const Fault& fault) {
      fail(fault.what(), at_);
    }
    at_ += end + 1;
  }

  void lex_operator(std::string_view rest) {
    const auto* const found = std::find_if(
        kOperators.begin(), kOperators.end(),
        [rest](const Operator& op) { return rest.substr(0, op.text.size()) == op.text; });
    if (found == kOperators.end()) {
      fail_character();
    }
    balance(rest[0]);
    add(found->type, at_);
    at_ += found->text.size();
  }

  void balance(char c) {
    const std::size_t opening = std::string_view("{([").find(c);
    if (opening != std::string_view::npos) {
      open_.push_back("})]"[opening]);
    } else if (c == '}' || c == ')' || c == ']') {
      if (open_.empty()) {
        fail(std::string("unexpected '") + c + "'", at_);
      }
      const char expected = open_.back();
      open_.pop_back();
      if (expected != c) {
        fail(std::string("unexpected '") + c + "', expected '" + expected + "'", at_);
      }
    }
  }

  [[noreturn]] void fail_character() const {
    const std::size_t length = utf8::next(source_.substr(at_)).length;
    fail("unexpected char '" + std::string(source_.substr(at_, length)) + "' at " +
             std::to_string(count_characters(source_.substr(0, at_))),
         at_);
  }

  std::string_view source_;
  std::size_t at_ = 0;
  bool line_starting_ = true;
  std::string open_;  // closing brackets that are awaited
  LexedSource result_;
};

}  // namespace

std::string normalize_source(std::string_view source) {
  std::string result;
  result.reserve(source.size());
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\r') {
      result += '\n';
      i += i + 1 < source.size() && source[i + 1] == '\n' ? 1 : 0;
    } else {
      result += source[i];
    }
  }
  if (!result.empty() && result.back() == '\n') {
    result.pop_back();
  }
  return result;
}

LexedSource lex(std::string_view normalized) {
  return Lexer(normalized).run();
}

std::string describe(TokenType type) {
  const auto* const found = std::find_if(kOperators.begin(), kOperators.end(),
                                         [type](const Operator& op) { return op.type == type; });
  if (found != kOperators.end()) {
    return std::string(found->text);
  }
  switch (type) {
    case TokenType::BlockBegin:
      return "begin of statement block";
    case TokenType::BlockEnd:
      return "end of statement block";
    case TokenType::VariableBegin:
      return "begin of print statement";
    case TokenType::VariableEnd:
      return "end of print statement";
    case TokenType::Data:
      return "template data / text";
    case TokenType::Eof:
      return "end of template";
    case TokenType::Float:
      return "float";
    case TokenType::Integer:
      return "integer";
    case TokenType::String:
      return "string";
    default:
      return "name";
  }
}

std::string describe(const Token& token) {
  return token.type == TokenType::Name ? token.text : describe(token.type);
}

}  // namespace smol::jinja
