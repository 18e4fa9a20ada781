#include "jinja/parser.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "jinja/expr_parser.h"
#include "jinja/text.h"

namespace smol::jinja {
namespace {

constexpr std::size_t kMaxTagNesting = 80;

using Names = std::vector<std::string_view>;

class StatementParser : private ExprParser {
 public:
  explicit StatementParser(std::string_view source) : ExprParser(lex(source)) {}

  Body parse() {
    Body body;
    parse_until(body, nullptr);
    return body;
  }

 private:
  using Parse = StatementPtr (StatementParser::*)();

  template <class Node>
  static StatementPtr make_statement(std::size_t offset, Node node) {
    return std::make_unique<Statement>(Statement{offset, std::move(node)});
  }

  // ---- bodies ----

  static void add_part(Output& output, ExprPtr part, bool is_data) {
    output.parts.push_back(std::move(part));
    output.is_data.push_back(is_data);
  }

  void parse_output(Output& output) {
    if (at(TokenType::Data)) {
      Token data = next();
      add_part(output,
               make(data.offset, Const{Value::string(std::move(data.text), Origin::Template)}),
               true);
      return;
    }
    expect(TokenType::VariableBegin);
    add_part(output, parse_tuple(), false);
    expect(TokenType::VariableEnd);
  }

  // Statements up to one of `ends` (left as the current token) or the end of the template.
  void parse_until(Body& body, const Names* ends) {
    while (!at(TokenType::Eof)) {
      const std::size_t offset = current().offset;
      if (!at(TokenType::BlockBegin)) {
        Output output;
        while (at(TokenType::Data) || at(TokenType::VariableBegin)) {
          parse_output(output);
        }
        body.push_back(make_statement(offset, std::move(output)));
        continue;
      }
      skip();
      if (ends != nullptr && at(TokenType::Name) &&
          std::find(ends->begin(), ends->end(), current().text) != ends->end()) {
        return;
      }
      body.push_back(parse_statement());
      expect(TokenType::BlockEnd);
    }
  }

  Body parse_body(const Names& ends, bool drop_end) {
    skip_if(TokenType::Colon);
    expect(TokenType::BlockEnd);
    Body body;
    ends_.push_back(ends);
    parse_until(body, &ends);
    if (at(TokenType::Eof)) {
      fail_tag({}, current().offset);
    }
    ends_.pop_back();
    skip(drop_end ? 1 : 0);
    return body;
  }

  [[noreturn]] void fail_tag(const std::string& name, std::size_t offset) const {
    std::string message = name.empty() ? "Unexpected end of template."
                                       : "Encountered unknown tag " + quote(name) + ".";
    if (!ends_.empty()) {
      std::string looking;
      for (const std::string_view end : ends_.back()) {
        looking += (looking.empty() ? "" : " or ") + quote(end);
      }
      const bool expected = std::any_of(ends_.begin(), ends_.end(), [&name](const Names& names) {
        return std::find(names.begin(), names.end(), name) != names.end();
      });
      message += expected
                     ? " You probably made a nesting mistake. Jinja is expecting this tag, but "
                       "currently looking for " +
                           looking + "."
                     : " Jinja was looking for the following tags: " + looking + ".";
    }
    if (!tags_.empty()) {
      message += " The innermost block that needs to be closed is " + quote(tags_.back()) + ".";
    }
    fail_at(message, offset);
  }

  // ---- tags ----

  static Parse find_tag(std::string_view name) noexcept {
    static constexpr std::array kTags = std::to_array<std::pair<std::string_view, Parse>>({
        {"for", &StatementParser::parse_for},
        {"if", &StatementParser::parse_if},
        {"block", &StatementParser::parse_block},
        {"extends", &StatementParser::parse_extends},
        {"print", &StatementParser::parse_print},
        {"macro", &StatementParser::parse_macro},
        {"include", &StatementParser::parse_include},
        {"from", &StatementParser::parse_from},
        {"import", &StatementParser::parse_import},
        {"set", &StatementParser::parse_set},
        {"with", &StatementParser::parse_with},
        {"autoescape", &StatementParser::parse_autoescape},
        {"call", &StatementParser::parse_call_block},
        {"filter", &StatementParser::parse_filter_block},
        {"generation", &StatementParser::parse_generation},
        {"break", &StatementParser::parse_break},
        {"continue", &StatementParser::parse_continue},
    });
    const auto* const found = std::find_if(kTags.begin(), kTags.end(),
                                           [name](const auto& tag) { return tag.first == name; });
    return found == kTags.end() ? nullptr : found->second;
  }

  StatementPtr parse_statement() {
    if (!at(TokenType::Name)) {
      fail("tag name expected");
    }
    const std::string tag = current().text;
    const Parse parse_tag = find_tag(tag);
    if (parse_tag == nullptr) {
      fail_tag(tag, current().offset);
    }
    if (tags_.size() >= kMaxTagNesting) {
      fail("the template nests too deeply");
    }
    tags_.push_back(tag);
    StatementPtr statement = (this->*parse_tag)();
    tags_.pop_back();
    return statement;
  }

  StatementPtr parse_for() {
    const std::size_t offset = next().offset;
    For node;
    node.target = parse_target(false);
    expect_name("in");
    TupleOptions options;
    options.with_conditional = false;
    node.iterable = parse_tuple(options);
    if (skip_if_name("if")) {
      node.test = parse_expression();
    }
    node.recursive = skip_if_name("recursive");
    node.body = parse_body({"endfor", "else"}, false);
    if (next().text == "else") {
      node.otherwise = parse_body({"endfor"}, true);
    }
    return make_statement(offset, std::move(node));
  }

  StatementPtr parse_if() {
    const std::size_t offset = next().offset;
    If node;
    TupleOptions options;
    options.with_conditional = false;
    for (;;) {
      ExprPtr test = parse_tuple(options);
      Body body = parse_body({"elif", "else", "endif"}, false);
      node.branches.emplace_back(std::move(test), std::move(body));
      const std::string end = next().text;
      if (end == "else") {
        node.otherwise = parse_body({"endif"}, true);
      }
      if (end != "elif") {
        return make_statement(offset, std::move(node));
      }
    }
  }

  StatementPtr parse_block() {
    const std::size_t offset = next().offset;
    Block node;
    node.name = expect(TokenType::Name).text;
    node.scoped = skip_if_name("scoped");
    node.required = skip_if_name("required");
    if (at(TokenType::Sub)) {
      fail(
          "Block names in Jinja have to be valid Python identifiers and may not contain hyphens, "
          "use an underscore instead.");
    }
    node.body = parse_body({"endblock"}, true);
    if (node.required && !std::all_of(node.body.begin(), node.body.end(), is_blank)) {
      fail("Required blocks can only contain comments or whitespace");
    }
    skip_if_name(node.name);
    return make_statement(offset, std::move(node));
  }

  static bool is_blank(const StatementPtr& statement) {
    const auto* const output = statement->as<Output>();
    if (output == nullptr) {
      return false;
    }
    for (std::size_t i = 0; i < output->parts.size(); ++i) {
      const bool spaces =
          output->is_data[i] && output->parts[i]->as<Const>()->value.bytes().find_first_not_of(
                                    " \t\n\v\f") == std::string::npos;
      if (!spaces) {
        return false;
      }
    }
    return true;
  }

  StatementPtr parse_extends() {
    const std::size_t offset = next().offset;
    return make_statement(offset, LoaderTag{"extends", parse_expression(), {}});
  }

  void skip_import_context() {
    const bool context = (at_name("with") || at_name("without")) &&
                         look().type == TokenType::Name && look().text == "context";
    skip(context ? 2 : 0);
  }

  StatementPtr parse_include() {
    const std::size_t offset = next().offset;
    LoaderTag node{"include", parse_expression(), {}};
    if (at_name("ignore") && look().type == TokenType::Name && look().text == "missing") {
      skip(2);
    }
    skip_import_context();
    return make_statement(offset, std::move(node));
  }

  StatementPtr parse_import() {
    const std::size_t offset = next().offset;
    LoaderTag node{"import", parse_expression(), {}};
    expect_name("as");
    node.names.push_back(parse_name_target().first);
    skip_import_context();
    return make_statement(offset, std::move(node));
  }

  StatementPtr parse_from() {
    const std::size_t offset = next().offset;
    LoaderTag node{"from", parse_expression(), {}};
    expect_name("import");
    for (bool first = true; first || at(TokenType::Comma); first = false) {
      skip(first ? 0 : 1);
      const std::size_t before = at_position();
      skip_import_context();
      if (at_position() != before || !at(TokenType::Name)) {
        break;
      }
      const auto [name, name_offset] = parse_name_target();
      if (name.front() == '_') {
        fail_at("names starting with an underline can not be imported", name_offset);
      }
      node.names.push_back(skip_if_name("as") ? parse_name_target().first : name);
      skip_import_context();
    }
    return make_statement(offset, std::move(node));
  }

  std::size_t at_position() const noexcept { return current().offset; }

  StatementPtr parse_print() {
    const std::size_t offset = next().offset;
    Output node;
    while (!at(TokenType::BlockEnd)) {
      if (!node.parts.empty()) {
        expect(TokenType::Comma);
      }
      add_part(node, parse_expression(), false);
    }
    return make_statement(offset, std::move(node));
  }

  StatementPtr parse_set() {
    const std::size_t offset = next().offset;
    ExprPtr target = parse_target(true);
    if (skip_if(TokenType::Assign)) {
      ExprPtr value = parse_tuple();
      return make_statement(offset, Assign{std::move(target), std::move(value)});
    }
    AssignBlock node;
    node.target = std::move(target);
    node.filter = parse_filter(nullptr);
    node.body = parse_body({"endset"}, true);
    return make_statement(offset, std::move(node));
  }

  StatementPtr parse_with() {
    const std::size_t offset = next().offset;
    With node;
    while (!at(TokenType::BlockEnd)) {
      if (!node.targets.empty()) {
        expect(TokenType::Comma);
      }
      ExprPtr target = parse_target(false);
      set_use(*target, NameUse::Param);
      node.targets.push_back(std::move(target));
      expect(TokenType::Assign);
      node.values.push_back(parse_expression());
    }
    node.body = parse_body({"endwith"}, true);
    return make_statement(offset, std::move(node));
  }

  StatementPtr parse_autoescape() {
    const std::size_t offset = next().offset;
    Autoescape node;
    node.enabled = parse_expression();
    node.body = parse_body({"endautoescape"}, true);
    return make_statement(offset, std::move(node));
  }

  StatementPtr parse_macro() {
    const std::size_t offset = next().offset;
    Macro node;
    node.macro.name = parse_name_target().first;
    parse_signature(node.macro);
    node.macro.body = parse_body({"endmacro"}, true);
    return make_statement(offset, std::move(node));
  }

  StatementPtr parse_call_block() {
    const std::size_t offset = next().offset;
    CallBlock node;
    if (at(TokenType::LParen)) {
      parse_signature(node.macro);
    }
    node.call = parse_expression();
    if (node.call->as<Call>() == nullptr) {
      fail_at("expected call", offset);
    }
    node.macro.body = parse_body({"endcall"}, true);
    return make_statement(offset, std::move(node));
  }

  StatementPtr parse_filter_block() {
    const std::size_t offset = next().offset;
    FilterBlock node;
    node.filter = parse_filter(nullptr, true);
    node.body = parse_body({"endfilter"}, true);
    return make_statement(offset, std::move(node));
  }

  StatementPtr parse_generation() {
    const std::size_t offset = next().offset;
    Generation node;
    node.macro.body = parse_body({"endgeneration"}, true);
    return make_statement(offset, std::move(node));
  }

  StatementPtr parse_break() { return make_statement(next().offset, Break{}); }

  StatementPtr parse_continue() { return make_statement(next().offset, Continue{}); }

  void parse_signature(MacroBody& macro) {
    expect(TokenType::LParen);
    while (!at(TokenType::RParen)) {
      if (!macro.arguments.empty()) {
        expect(TokenType::Comma);
      }
      const auto [name, offset] = parse_name_target();
      if (skip_if(TokenType::Assign)) {
        macro.defaults.push_back(parse_expression());
      } else if (!macro.defaults.empty()) {
        fail("non-default argument follows default argument");
      }
      macro.arguments.push_back(name);
      macro.targets.push_back(make(offset, Name{name, NameUse::Param, {}}));
    }
    expect(TokenType::RParen);
  }

  // ---- targets ----

  static bool is_constant_name(std::string_view name) noexcept {
    return name == "true" || name == "false" || name == "none" || name == "True" ||
           name == "False" || name == "None";
  }

  std::pair<std::string, std::size_t> parse_name_target() {
    Token token = expect(TokenType::Name);
    if (is_constant_name(token.text)) {
      fail_at("can't assign to 'name'", token.offset);
    }
    return {std::move(token.text), token.offset};
  }

  ExprPtr parse_target(bool with_namespace) {
    TupleOptions options;
    options.simplified = true;
    options.with_namespace = with_namespace;
    ExprPtr target = parse_tuple(options);
    if (!can_assign(*target)) {
      fail_at("can't assign to " + quote(node_name(*target)), target->offset);
    }
    set_use(*target, NameUse::Store);
    return target;
  }

  static bool can_assign(const Expr& target) {
    if (const auto* const tuple = target.as<TupleExpr>()) {
      return std::all_of(tuple->items.begin(), tuple->items.end(),
                         [](const ExprPtr& item) { return can_assign(*item); });
    }
    return target.as<Name>() != nullptr || target.as<NamespaceRef>() != nullptr;
  }

  static void set_use(Expr& target, NameUse use) {
    if (auto* const name = target.as<Name>()) {
      name->use = use;
    } else if (auto* const tuple = target.as<TupleExpr>()) {
      for (ExprPtr& item : tuple->items) {
        set_use(*item, use);
      }
    }
  }

  static std::string_view node_name(const Expr& expr) noexcept {
    static constexpr std::array<std::string_view, 18> kNames = {
        "const",  "name",    "nsref",    "tuple",   "list",    "dict",  "neg",  "add",    "and",
        "concat", "compare", "condexpr", "getattr", "getitem", "slice", "call", "filter", "test"};
    return kNames[expr.node.index()];
  }

  std::vector<Names> ends_;
  std::vector<std::string> tags_;
};

}  // namespace

Body parse_template(std::string_view normalized) {
  return StatementParser(normalized).parse();
}

}  // namespace smol::jinja
