// From the shapes of a JSON Schema to lexemes and rules.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "grammar/lexicon.h"
#include "grammar/rules.h"
#include "grammar/schema_shape.h"

namespace smol::grammar {

using Pieces = std::vector<Piece>;

// A sparse lexeme of a JSON value in canonical writing, at most one space or newline between its
// tokens.
LexState add_value(Lexicon& lexicon, const Json& value);

// One schema, one thread.
class SchemaCompiler {
 public:
  static constexpr std::size_t kMaxUnrolledItems = 20'000;
  static constexpr std::size_t kMaxCountedStates = 50'000;
  static constexpr std::size_t kMaxNames = 4'000;
  static constexpr std::size_t kMaxPatterns = 4;  // patternProperties of one object

  explicit SchemaCompiler(const Json& schema) : document_(schema), shapes_(document_, budget_) {}

  // What compile_json_schema throws.
  void compile();

  Lexicon& lexicon() noexcept { return lexicon_; }

  RulesBuilder& rules() noexcept { return rules_; }

  RuleId root() const noexcept { return root_; }

  // Some object may have other keys than those that its schema names.
  bool has_free_keys() const noexcept { return has_free_keys_; }

 private:
  struct Property {
    std::string name;
    bool required;
    Pieces value;  // empty: the property may not be there
  };

  // A kind of key that is none of the named ones.
  struct OtherKey {
    LexState key;
    Pieces value;
  };

  using Patterns = std::vector<std::pair<const Json*, std::string>>;  // schema, pattern

  // An object's rule in the making: its states by index of the next property and count of those
  // written.
  struct ObjectRule {
    const Shape& shape;
    const std::vector<Property>& named;
    const std::vector<OtherKey>& others;
    std::size_t limit;  // counted up to here
    bool is_max;        // no more than `limit` may be there
    std::vector<RuleState> before_key, behind_value;

    std::size_t at(std::size_t index, std::size_t count) const {
      return index * (limit + 1) + count;
    }

    bool may_close(std::size_t index, std::size_t count) const;
  };

  const Pieces& pieces_of(const SchemaSet& schemas);
  void add_pieces(Pieces& pieces, const Shape& shape);
  void add_values(Pieces& pieces, const Shape& shape);
  void add_string(Pieces& pieces, const Shape& shape);
  void add_number(Pieces& pieces, const Shape& shape);
  void build_array(RuleId rule, const Shape& shape);
  void build_object(RuleId rule, const Shape& shape);
  std::vector<Property> properties_of(const Shape& shape);
  std::vector<OtherKey> other_keys(const Shape& shape, const std::vector<Property>& named);
  LexState unnamed_key(const std::vector<Property>& named);
  LexState patterned_key(const Patterns& patterns, unsigned matched,
                         const std::vector<Property>& named);
  SchemaSet class_schemas(const Shape& shape, const Patterns& patterns, unsigned matched) const;
  std::size_t count_limit(const Shape& shape, const std::vector<Property>& named,
                          bool has_others) const;
  void connect_object(RuleId rule, const Shape& shape, const std::vector<Property>& named,
                      const std::vector<OtherKey>& others);
  void connect_keys(const ObjectRule& object, std::size_t index, std::size_t count);
  void connect_value(RuleState from, LexState key, const Pieces& value, RuleState to);
  LexState key_lexeme(const std::string& name);

  StepBudget budget_;
  SchemaDocument document_;
  ShapeMaker shapes_;
  Lexicon lexicon_;
  RulesBuilder rules_;
  RuleId root_ = 0;
  bool has_free_keys_ = false;
  std::map<SchemaSet, Pieces> known_;
  std::deque<std::pair<RuleId, Shape>> open_;  // arrays and objects not yet built
  std::map<std::string, LexState> keys_;
  std::map<std::string, Piece> scalars_;
};

}  // namespace smol::grammar
