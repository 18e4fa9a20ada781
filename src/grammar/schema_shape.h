// What a set of schemas asks of a value at once, sorted by the type of value: the normal form
// between a JSON Schema and its grammar.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "grammar/numbers.h"
#include "grammar/schema_document.h"

namespace smol::grammar {

// Schemas that hold together (a conjunction), in the order in which they were met. Empty: any
// value.
using SchemaSet = std::vector<const Json*>;

enum : std::uint8_t {
  kNull = 1,
  kBoolean = 2,
  kNumber = 4,
  kString = 8,
  kArray = 16,
  kObject = 32,
  kAllTypes = 63
};

// Sets no keyword that is not in it: an alternative of a schema whose choices are all made.
struct Shape {
  std::uint8_t types = kAllTypes;
  // enum and const: those all lists share. The first list's schema is kept for messages.
  std::optional<std::vector<const Json*>> values;
  const Json* values_holder = nullptr;
  NumberRules numbers;
  std::uint32_t min_length = 0, max_length = 0xFFFF'FFFFU;
  std::vector<const Json*> texts;  // schemas with pattern or format
  std::uint64_t min_items = 0, max_items = kNoMax;
  std::vector<const Json*> arrays;  // schemas with keywords for items
  std::uint64_t min_properties = 0, max_properties = kNoMax;
  std::vector<std::string> required;
  std::vector<const Json*> objects;  // schemas with keywords for properties
  const Json* holder = nullptr;      // the first schema, for messages
  bool is_choice = false;            // a branch of anyOf or oneOf

  static constexpr std::uint64_t kNoMax = 0xFFFF'FFFF'FFFF'FFFFU;
};

// One thread.
class ShapeMaker {
 public:
  static constexpr std::size_t kMaxAlternatives = 512;
  static constexpr std::size_t kMaxSteps = 200'000;  // schemas looked at, in all

  ShapeMaker(SchemaDocument& document, StepBudget& budget) : document_(document), budget_(budget) {}

  // The alternatives (of anyOf, oneOf) that a value may be; none: no value fits. Throws for
  // keywords that are not enforced, for malformed ones, and for a oneOf whose branches are not told
  // apart by type or by a const or enum.
  std::vector<Shape> expand(const SchemaSet& schemas);

  // The schemas of the item at `index`.
  SchemaSet item_schemas(const Shape& shape, std::size_t index) const;
  // Length of the longest list of schemas for the first items.
  static std::size_t n_prefix_items(const Shape& shape);

  // The schemas of a named property.
  SchemaSet property_schemas(const Shape& shape, const std::string& name);
  // Whether the value of enum or const keeps the other rules of the shape. Throws
  // Error{Unsupported} for arrays and objects where there are such rules.
  bool allows(const Shape& shape, const Json& value);
  // The texts that keep patterns, formats and lengths. Throws with the keyword's path.
  CharDfa text_automaton(const Shape& shape);
  // The whole of a pattern (of patternProperties) of `holder`.
  const CharDfa& pattern_automaton(const Json& holder, const std::string& pattern,
                                   const char* keyword);

 private:
  struct Item;
  struct Partial;

  std::vector<Shape> expand(Partial partial, int depth);
  bool take(Partial& partial, const Item& item);
  void add_parts(Partial& partial, const Json& schema, std::size_t link);
  bool is_endless(const Item& item) const;
  std::vector<Shape> expand_choice(const Partial& partial, const Item& item, int depth);
  Shape merge(const std::vector<const Json*>& schemas);
  void check_keywords(const Json& schema) const;
  void add_types(Shape& shape, const Json& schema) const;
  void add_values(Shape& shape, const Json& schema) const;
  void add_numbers(Shape& shape, const Json& schema) const;
  void add_bound(Shape& shape, const Json& schema, bool is_min) const;
  void add_texts(Shape& shape, const Json& schema) const;
  void add_format(Shape& shape, const Json& schema) const;
  void add_arrays(Shape& shape, const Json& schema) const;
  void add_objects(Shape& shape, const Json& schema) const;
  std::optional<std::uint64_t> count_at(const Json& schema, const char* keyword) const;
  std::optional<Decimal> number_at(const Json& schema, const char* keyword) const;
  void add_property_schemas(SchemaSet& set, const Json& schema, const std::string& name);
  bool disjoint(const Shape& a, const Shape& b, int depth);
  bool objects_disjoint(const Shape& a, const Shape& b, int depth);
  bool values_disjoint(const Shape& listed, const Shape& other, std::uint8_t type);
  Regex text_regex(RegexPool& pool, const Json& holder, const std::string& pattern,
                   const char* keyword) const;

  SchemaDocument& document_;
  StepBudget& budget_;
  std::size_t n_steps_ = 0;

  struct Link {
    const Json* schema;
    std::size_t parent;
  };

  std::vector<Link> links_;  // from what each schema was reached
  std::map<std::string, CharDfa> patterns_;
};

std::uint8_t type_of(const Json& value);

}  // namespace smol::grammar
