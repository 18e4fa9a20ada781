// GBNF to lexemes and rules: what is regular becomes a lexeme, what is recursive a rule.
#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/error.h"
#include "grammar/gbnf_parser.h"
#include "grammar/grammar.h"
#include "grammar/lowering.h"
#include "grammar/regex.h"

namespace smol::grammar {
namespace {

using Kind = GbnfNode::Kind;

class GbnfCompiler {
 public:
  static constexpr std::size_t kMaxLexemeSize = 3'000;  // nodes, called rules copied in
  static constexpr std::size_t kMaxLexemeStates = 2'000;
  static constexpr std::size_t kMaxJoined = 1'500;  // nodes of neighbours that become one lexeme

  GbnfCompiler(const GbnfTree& tree, std::string_view text) : tree_(tree), text_(text) {
    sizes_.resize(tree.rules.size());
    for (std::size_t rule = 0; rule < tree.rules.size(); ++rule) {
      measure_rule(rule, 0);
    }
  }

  std::shared_ptr<const Grammar> compile() {
    const RuleId root = rule_id(tree_.root);
    std::size_t n_done = 0;
    while (n_done < built_.size()) {
      const std::size_t rule = built_[n_done++];
      const RuleState end = rules_.add_state();
      rules_.set_final(end);
      build(tree_.rules[rule].body, rules_.entry(ids_.at(rule)), end);
    }
    lexicon_.finish();
    RulesBuilder::Result result = rules_.finish(root);
    if (result.left_recursive != RulesBuilder::kNoRule) {
      const GbnfRule& rule = tree_.rules[built_[result.left_recursive]];
      fail_gbnf(text_, rule.offset, "rule \"" + rule.name + "\" is left recursive");
    }
    if (result.empty) {
      fail_gbnf(text_, tree_.rules[tree_.root].offset, "no text fits this rule");
    }
    return std::make_shared<const Grammar>(std::move(lexicon_), std::move(result.rules));
  }

 private:
  // Nodes of an expression with the rules it calls copied in; 0: recursive or too large.
  struct Size {
    enum { Unknown, Open, Known } state = Unknown;

    std::size_t size = 0;
  };

  std::size_t measure_rule(std::size_t rule, int depth) {
    constexpr int kMaxCalls = 200;
    Size& size = sizes_[rule];
    if (size.state == Size::Open || depth > kMaxCalls) {
      return 0;
    }
    if (size.state == Size::Unknown) {
      size.state = Size::Open;
      const std::size_t measured = measure(tree_.rules[rule].body, depth + 1);
      sizes_[rule] = {Size::Known, measured};
    }
    return sizes_[rule].size;
  }

  std::size_t measure(const GbnfNode& node, int depth) {
    if (node.kind == Kind::Call) {
      return measure_rule(node.rule, depth);
    }
    std::size_t size = 1 + node.text.size();
    for (const GbnfNode& part : node.parts) {
      const std::size_t inner = measure(part, depth);
      size += inner;
      if (inner == 0 || size > kMaxLexemeSize) {
        return 0;
      }
    }
    return size > kMaxLexemeSize ? 0 : size;
  }

  bool is_regular(const GbnfNode& node) { return measure(node, 0) != 0; }

  RuleId rule_id(std::size_t rule) {
    const auto [found, is_new] = ids_.try_emplace(rule, 0);
    if (is_new) {
      found->second = rules_.add_rule();
      built_.push_back(rule);
    }
    return found->second;
  }

  Regex regex_of(const GbnfNode& node) {
    switch (node.kind) {
      case Kind::Text:
        return pool_.text(node.text);
      case Kind::Chars:
        return pool_.one_of(node.chars);
      case Kind::Call:
        return regex_of(tree_.rules[node.rule].body);
      case Kind::Sequence: {
        Regex whole = pool_.empty();
        for (std::size_t i = node.parts.size(); i-- > 0;) {
          whole = pool_.concat(regex_of(node.parts[i]), whole);
        }
        return whole;
      }
      case Kind::Choice: {
        std::vector<Regex> options;
        for (const GbnfNode& part : node.parts) {
          options.push_back(regex_of(part));
        }
        return pool_.either(options);
      }
      case Kind::Repeat:
        return pool_.repeat(regex_of(node.parts[0]), node.min, node.max);
    }
    return pool_.nothing();
  }

  // What is known of an expression as a lexeme.
  struct Lexeme {
    LexState start = kDead;  // kDead: no text but perhaps the empty one
    bool empty = false;      // the empty text fits
    bool too_large = false;
  };

  const Lexeme& lexeme_of(Regex regex) {
    const auto [found, is_new] = lexemes_.try_emplace(regex);
    Lexeme& lexeme = found->second;
    if (!is_new) {
      return lexeme;
    }
    CharDfa dfa;
    try {
      dfa = pool_.automaton(regex, kMaxLexemeStates);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::Exhausted || budget_.left == 0) {
        throw;
      }
      lexeme.too_large = true;
      return lexeme;
    }
    lexeme.empty = !dfa.empty() && dfa.accepts[0];
    const auto leads_on = [](std::uint32_t next) { return next != CharDfa::kNone; };
    if (!dfa.empty() && std::any_of(dfa.next.begin(), dfa.next.end(), leads_on)) {
      lexeme.start = lower_text(lexicon_, dfa);
    }
    return lexeme;
  }

  // false: as a lexeme it would be too large.
  bool add_lexeme(Regex regex, RuleState from, RuleState to) {
    const Lexeme& lexeme = lexeme_of(regex);
    if (lexeme.too_large) {
      return false;
    }
    if (lexeme.empty) {
      rules_.add_skip(from, to);
    }
    if (lexeme.start != kDead) {
      rules_.add_edge(from, {Piece::Kind::Lexeme, lexeme.start}, to);
    }
    return true;
  }

  void build(const GbnfNode& node, RuleState from, RuleState to) {
    if (is_regular(node) && add_lexeme(regex_of(node), from, to)) {
      return;
    }
    switch (node.kind) {
      case Kind::Text:
        build_text(node.text, from, to);
        return;
      case Kind::Chars:
        throw Error(ErrorCode::Exhausted, "grammar: a set of characters is too large");
      case Kind::Call:
        rules_.add_edge(from, {Piece::Kind::Rule, rule_id(node.rule)}, to);
        return;
      case Kind::Sequence:
        build_sequence(node.parts, from, to);
        return;
      case Kind::Choice:
        build_choice(node.parts, from, to);
        return;
      case Kind::Repeat:
        build_repeat(node, from, to);
        return;
    }
  }

  // A text that is too long for one lexeme becomes several, cut between characters.
  void build_text(std::string_view text, RuleState from, RuleState to) {
    while (text.size() > kMaxJoined) {
      std::size_t size = kMaxJoined;
      while ((static_cast<unsigned char>(text[size]) & 0xC0U) == 0x80U) {  // inside a character
        --size;
      }
      const RuleState behind = rules_.add_state();
      add_lexeme(pool_.text(text.substr(0, size)), from, behind);
      text.remove_prefix(size);
      from = behind;
    }
    add_lexeme(pool_.text(text), from, to);
  }

  // Neighbours that are regular become one lexeme.
  void build_sequence(const std::vector<GbnfNode>& parts, RuleState from, RuleState to) {
    for (std::size_t i = 0; i < parts.size();) {
      std::size_t end = i;
      std::size_t size = 0;
      Regex run = pool_.empty();
      while (end < parts.size() && is_regular(parts[end]) &&
             size + measure(parts[end], 0) <= kMaxJoined) {
        size += measure(parts[end], 0);
        run = pool_.concat(run, regex_of(parts[end]));
        ++end;
      }
      if (end > i + 1) {
        const RuleState behind_run = end == parts.size() ? to : rules_.add_state();
        if (add_lexeme(run, from, behind_run)) {
          from = behind_run;
          i = end;
          continue;
        }
      }
      const RuleState behind = i + 1 == parts.size() ? to : rules_.add_state();
      build(parts[i], from, behind);
      from = behind;
      ++i;
    }
    if (parts.empty()) {
      rules_.add_skip(from, to);
    }
  }

  void build_choice(const std::vector<GbnfNode>& parts, RuleState from, RuleState to) {
    std::vector<Regex> regular;
    for (const GbnfNode& part : parts) {
      if (is_regular(part)) {
        regular.push_back(regex_of(part));
      }
    }
    const bool grouped = regular.size() > 1 && regular.size() < parts.size() &&
                         add_lexeme(pool_.either(regular), from, to);
    for (const GbnfNode& part : parts) {
      if (!grouped || !is_regular(part)) {
        build(part, from, to);
      }
    }
  }

  void build_repeat(const GbnfNode& node, RuleState from, RuleState to) {
    const GbnfNode& inner = node.parts[0];
    for (std::uint32_t i = 0; i < node.min; ++i) {
      const RuleState behind = rules_.add_state();
      build(inner, from, behind);
      from = behind;
    }
    rules_.add_skip(from, to);
    if (node.max == GbnfTree::kUnbounded) {
      const RuleState loop = rules_.add_state();
      const RuleState behind = rules_.add_state();
      rules_.add_skip(from, loop);
      build(inner, loop, behind);
      rules_.add_skip(behind, loop);
      rules_.add_skip(behind, to);
      return;
    }
    for (std::uint32_t i = node.min; i < node.max; ++i) {
      const RuleState behind = rules_.add_state();
      build(inner, from, behind);
      rules_.add_skip(behind, to);
      from = behind;
    }
  }

  const GbnfTree& tree_;
  std::string_view text_;
  std::vector<Size> sizes_;
  StepBudget budget_;
  RegexPool pool_{budget_};
  Lexicon lexicon_;
  RulesBuilder rules_;
  std::map<std::size_t, RuleId> ids_;
  std::vector<std::size_t> built_;  // rules of the tree, by RuleId
  std::unordered_map<Regex, Lexeme> lexemes_;
};

}  // namespace

std::shared_ptr<const Grammar> compile_gbnf(std::string_view text) {
  const GbnfTree tree = parse_gbnf(text);
  return GbnfCompiler(tree, text).compile();
}

}  // namespace smol::grammar
