// The rules of JSON objects: named keys in the schema's order, then all others.
#include <algorithm>

#include "grammar/ecma_pattern.h"
#include "grammar/lowering.h"
#include "grammar/schema_compiler.h"

namespace smol::grammar {
namespace {

Piece lexeme_piece(LexState start) {
  return {Piece::Kind::Lexeme, start};
}

std::vector<std::pair<const Json*, std::string>> patterns_of(const Shape& shape) {
  std::vector<std::pair<const Json*, std::string>> patterns;
  for (const Json* schema : shape.objects) {
    if (const auto found = schema->find("patternProperties"); found != schema->end()) {
      for (const auto& [pattern, value] : found->items()) {
        patterns.emplace_back(schema, pattern);
      }
    }
  }
  return patterns;
}

bool accepts_all(const CharDfa& dfa) {
  return !dfa.empty() &&
         std::find(dfa.accepts.begin(), dfa.accepts.end(), false) == dfa.accepts.end() &&
         std::find(dfa.next.begin(), dfa.next.end(), CharDfa::kNone) == dfa.next.end();
}

}  // namespace

LexState SchemaCompiler::key_lexeme(const std::string& name) {
  const auto [found, is_new] = keys_.try_emplace(name, kDead);
  if (is_new) {
    found->second = add_literal(lexicon_, canonical_string(name), Lexicon::common().colon);
  }
  return found->second;
}

std::vector<SchemaCompiler::Property> SchemaCompiler::properties_of(const Shape& shape) {
  std::vector<Property> named;
  std::map<std::string, std::size_t, std::less<>> known;
  const auto add = [&](const std::string& name) {
    if (!known.try_emplace(name, named.size()).second) {
      return;
    }
    if (named.size() >= kMaxNames) {
      document_.fail(ErrorCode::Exhausted, *shape.holder, "properties", "are too many");
    }
    named.push_back({name, false, pieces_of(shapes_.property_schemas(shape, name))});
  };
  for (const Json* schema : shape.objects) {
    if (const auto found = schema->find("properties"); found != schema->end()) {
      for (const auto& [name, value] : found->items()) {
        add(name);
      }
    }
  }
  for (const std::string& name : shape.required) {
    add(name);
    named[known.at(name)].required = true;
  }
  return named;
}

// The schemas of a key that matches exactly the patterns of the bits `matched`.
SchemaSet SchemaCompiler::class_schemas(const Shape& shape, const Patterns& patterns,
                                        unsigned matched) const {
  SchemaSet set;
  for (const Json* schema : shape.objects) {
    bool any = false;
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      if (patterns[i].first == schema && ((matched >> i) & 1U) != 0) {
        set.push_back(&*schema->find("patternProperties")->find(patterns[i].second));
        any = true;
      }
    }
    if (const auto others = schema->find("additionalProperties"); !any && others != schema->end()) {
      set.push_back(&*others);
    }
  }
  return set;
}

std::vector<SchemaCompiler::OtherKey> SchemaCompiler::other_keys(
    const Shape& shape, const std::vector<Property>& named) {
  const Patterns patterns = patterns_of(shape);
  if (patterns.size() > kMaxPatterns) {
    document_.fail(ErrorCode::Unsupported, *patterns[0].first, "patternProperties",
                   "with more than " + std::to_string(kMaxPatterns) + " patterns is not supported");
  }
  std::vector<OtherKey> others;
  for (unsigned matched = 0; matched < (1U << patterns.size()); ++matched) {
    const Pieces value = pieces_of(class_schemas(shape, patterns, matched));
    if (value.empty()) {
      continue;
    }
    const LexState key =
        patterns.empty() ? unnamed_key(named) : patterned_key(patterns, matched, named);
    if (key != kDead) {
      others.push_back({key, value});
    }
  }
  return others;
}

// Any key but the named ones.
LexState SchemaCompiler::unnamed_key(const std::vector<Property>& named) {
  std::vector<std::string_view> names;
  names.reserve(named.size());
  for (const Property& property : named) {
    names.push_back(property.name);
  }
  return names.empty() ? Lexicon::common().key : lower_other_keys(lexicon_, names);
}

// Any key but the named ones that matches exactly the patterns of the bits `matched`; kDead: there
// is none.
LexState SchemaCompiler::patterned_key(const Patterns& patterns, unsigned matched,
                                       const std::vector<Property>& named) {
  RegexPool pool(budget_);
  try {
    std::vector<Regex> all;
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      const Regex one = parse_pattern(pool, patterns[i].second);
      all.push_back(((matched >> i) & 1U) != 0 ? one : pool.except(one));
    }
    const CharDfa with_named = pool.automaton(pool.both(all));
    if (accepts_all(with_named)) {
      return unnamed_key(named);
    }
    for (const Property& property : named) {
      if (with_named.matches(property.name)) {
        all.push_back(pool.except(pool.text(property.name)));
      }
    }
    const CharDfa dfa = pool.automaton(pool.both(all));
    return dfa.empty() ? kDead : lower_string(lexicon_, dfa, Lexicon::common().colon);
  } catch (const Error& error) {
    document_.fail(error.code(), *patterns[0].first, "patternProperties", error.what());
  }
}

// Up to which count properties are counted.
std::size_t SchemaCompiler::count_limit(const Shape& shape, const std::vector<Property>& named,
                                        bool has_others) const {
  const auto is_required = [](const Property& property) { return property.required; };
  const auto n_required =
      static_cast<std::uint64_t>(std::count_if(named.begin(), named.end(), is_required));
  const bool needs_min = shape.min_properties > n_required;
  if (needs_min && shape.min_properties > 1 && has_others) {
    document_.fail(ErrorCode::Unsupported, *shape.holder, "minProperties",
                   "above 1 is supported only without further keys");
  }
  const bool needs_max =
      shape.max_properties != Shape::kNoMax && (has_others || shape.max_properties < named.size());
  const std::uint64_t limit = needs_max   ? shape.max_properties
                              : needs_min ? shape.min_properties
                                          : 0;
  if (limit >= kMaxCountedStates || (limit + 1) * (named.size() + 1) > kMaxCountedStates) {
    document_.fail(ErrorCode::Unsupported, *shape.holder,
                   needs_max ? "maxProperties" : "minProperties", "is too large");
  }
  return static_cast<std::size_t>(limit);
}

void SchemaCompiler::connect_value(RuleState from, LexState key, const Pieces& value,
                                   RuleState to) {
  const RuleState behind_key = rules_.add_state();
  rules_.add_edge(from, lexeme_piece(key), behind_key);
  for (const Piece& piece : value) {
    rules_.add_edge(behind_key, piece, to);
  }
}

void SchemaCompiler::build_object(RuleId rule, const Shape& shape) {
  std::vector<Property> named = properties_of(shape);
  const std::vector<OtherKey> others = other_keys(shape, named);
  has_free_keys_ = has_free_keys_ || !others.empty();
  connect_object(rule, shape, named, others);
  if (!shape.is_choice) {
    return;
  }
  // What tells branches apart is required: it may come first, in the order of `required`.
  const auto place = [&](const Property& property) {
    return std::find(shape.required.begin(), shape.required.end(), property.name) -
           shape.required.begin();
  };
  const auto before = [&](const Property& a, const Property& b) { return place(a) < place(b); };
  if (!std::is_sorted(named.begin(), named.end(), before)) {
    std::stable_sort(named.begin(), named.end(), before);
    connect_object(rule, shape, named, others);
  }
}

// The properties from `index` on may all be missing, and enough are there.
bool SchemaCompiler::ObjectRule::may_close(std::size_t index, std::size_t count) const {
  const auto is_required = [](const Property& property) { return property.required; };
  return std::none_of(named.begin() + static_cast<std::ptrdiff_t>(index), named.end(),
                      is_required) &&
         (count >= shape.min_properties || (limit == 0 && !is_max));
}

// The keys that may come where `count` properties are written and the next may be `index`.
void SchemaCompiler::connect_keys(const ObjectRule& object, std::size_t index, std::size_t count) {
  const RuleState key = object.before_key[object.at(index, count)];
  const std::size_t n = object.named.size();
  if (index < n && !object.named[index].required) {
    rules_.add_skip(key, object.before_key[object.at(index + 1, count)]);
  }
  if (object.is_max && count == object.limit) {
    return;
  }
  const std::size_t more = std::min(count + 1, object.limit);
  if (index == n) {
    for (const OtherKey& other : object.others) {
      connect_value(key, other.key, other.value, object.behind_value[object.at(n, more)]);
    }
  } else if (const Property& property = object.named[index]; !property.value.empty()) {
    connect_value(key, key_lexeme(property.name), property.value,
                  object.behind_value[object.at(index + 1, more)]);
  }
}

void SchemaCompiler::connect_object(RuleId rule, const Shape& shape,
                                    const std::vector<Property>& named,
                                    const std::vector<OtherKey>& others) {
  const CommonStates& common = Lexicon::common();
  const std::size_t limit = count_limit(shape, named, !others.empty());
  const bool is_max = shape.max_properties == limit && shape.max_properties != Shape::kNoMax;
  ObjectRule object{shape, named, others, limit, is_max, {}, {}};
  for (std::size_t i = 0; i < (named.size() + 1) * (limit + 1); ++i) {
    object.before_key.push_back(rules_.add_state());
    object.behind_value.push_back(rules_.add_state());
  }
  const RuleState end = rules_.add_state();
  rules_.set_final(end);
  for (std::size_t index = 0; index <= named.size(); ++index) {
    for (std::size_t count = 0; count <= limit; ++count) {
      const RuleState behind = object.behind_value[object.at(index, count)];
      rules_.add_edge(behind, lexeme_piece(common.comma),
                      object.before_key[object.at(index, count)]);
      if (object.may_close(index, count)) {
        rules_.add_edge(behind, lexeme_piece(common.close_brace), end);
      }
      connect_keys(object, index, count);
    }
  }
  const RuleState start = rules_.add_state();
  rules_.add_edge(rules_.entry(rule), lexeme_piece(common.open_brace), start);
  rules_.add_skip(start, object.before_key[0]);
  if (object.may_close(0, 0)) {
    rules_.add_edge(start, lexeme_piece(common.bare_close_brace), end);
  }
}

}  // namespace smol::grammar
