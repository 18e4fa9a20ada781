#include "grammar/schema_compiler.h"

#include <algorithm>

#include "grammar/lowering.h"

namespace smol::grammar {
namespace {

Piece lexeme(LexState start) {
  return {Piece::Kind::Lexeme, start};
}

bool is_universal(const CharDfa& dfa) {
  return !dfa.empty() &&
         std::all_of(dfa.accepts.begin(), dfa.accepts.end(), [](bool a) { return a; }) &&
         std::find(dfa.next.begin(), dfa.next.end(), CharDfa::kNone) == dfa.next.end();
}

}  // namespace

void SchemaCompiler::compile() {
  root_ = rules_.add_rule();
  const RuleState end = rules_.add_state();
  rules_.set_final(end);
  const Pieces whole = pieces_of({&document_.root()});
  for (const Piece& piece : whole) {
    rules_.add_edge(rules_.entry(root_), piece, end);
  }
  while (!open_.empty()) {
    const auto [rule, shape] = std::move(open_.front());
    open_.pop_front();
    if (shape.types == kArray) {
      build_array(rule, shape);
    } else {
      build_object(rule, shape);
    }
  }
  lexicon_.finish();
}

const Pieces& SchemaCompiler::pieces_of(const SchemaSet& schemas) {
  SchemaSet set;
  for (const Json* schema : schemas) {
    const bool is_true = schema->is_boolean() && schema->get<bool>();
    if (!is_true && std::find(set.begin(), set.end(), schema) == set.end()) {
      set.push_back(schema);
    }
  }
  const auto [found, is_new] = known_.try_emplace(set);
  if (is_new) {
    for (const Shape& shape : shapes_.expand(set)) {
      add_pieces(found->second, shape);
    }
  }
  return found->second;
}

void SchemaCompiler::add_pieces(Pieces& pieces, const Shape& shape) {
  if (shape.values) {
    add_values(pieces, shape);
    return;
  }
  const CommonStates& common = Lexicon::common();
  if ((shape.types & kNull) != 0) {
    pieces.push_back(lexeme(common.literal_null));
  }
  if ((shape.types & kBoolean) != 0) {
    pieces.push_back(lexeme(common.literal_true));
    pieces.push_back(lexeme(common.literal_false));
  }
  if ((shape.types & kNumber) != 0) {
    add_number(pieces, shape);
  }
  if ((shape.types & kString) != 0) {
    add_string(pieces, shape);
  }
  for (const std::uint8_t type : {kArray, kObject}) {
    if ((shape.types & type) != 0) {
      const RuleId rule = rules_.add_rule();
      pieces.push_back({Piece::Kind::Rule, rule});
      Shape one = shape;
      one.types = type;
      open_.emplace_back(rule, std::move(one));
    }
  }
}

void SchemaCompiler::add_number(Pieces& pieces, const Shape& shape) {
  const NumberRules& rules = shape.numbers;
  if (!rules.any()) {
    const CommonStates& common = Lexicon::common();
    pieces.push_back(lexeme(rules.integer ? common.integer : common.number));
    return;
  }
  std::string key = rules.integer ? "int" : "num";
  const auto add_bound = [&](const std::optional<NumberBound>& bound) {
    key += bound ? (bound->exclusive ? " !" : " ") + bound->value.text() : " -";
  };
  add_bound(rules.min);
  add_bound(rules.max);
  for (const Decimal& multiple : rules.multiples_of) {
    key += " *" + multiple.text();
  }
  if (const auto known = scalars_.find(key); known != scalars_.end()) {
    pieces.push_back(known->second);
    return;
  }
  CharDfa dfa;
  try {
    dfa = number_automaton(rules, budget_);
  } catch (const Error& error) {
    document_.fail(error.code(), *shape.holder,
                   rules.multiples_of.empty() ? "minimum" : "multipleOf", error.what());
  }
  if (!dfa.empty()) {
    pieces.push_back(lexeme(lower_text(lexicon_, dfa)));
    scalars_.emplace(key, pieces.back());
  }
}

void SchemaCompiler::add_string(Pieces& pieces, const Shape& shape) {
  const CommonStates& common = Lexicon::common();
  if (shape.texts.empty()) {
    if (shape.min_length <= shape.max_length) {
      pieces.push_back({Piece::Kind::Lexeme, common.string, shape.min_length, shape.max_length});
    }
    return;
  }
  std::string key = "text";
  for (const Json* schema : shape.texts) {
    for (const char* keyword : {"pattern", "format"}) {
      if (const auto found = schema->find(keyword); found != schema->end()) {
        key += '\0' + std::string(keyword) + '\0' + found->get<std::string>();
      }
    }
  }
  key += '\0' + std::to_string(shape.min_length) + "-" + std::to_string(shape.max_length);
  if (const auto known = scalars_.find(key); known != scalars_.end()) {
    pieces.push_back(known->second);
    return;
  }
  const CharDfa dfa = shapes_.text_automaton(shape);
  if (is_universal(dfa)) {
    pieces.push_back(lexeme(common.string));
  } else if (!dfa.empty()) {
    pieces.push_back(lexeme(lower_string(lexicon_, dfa, common.accept)));
    scalars_.emplace(key, pieces.back());
  }
}

void SchemaCompiler::add_values(Pieces& pieces, const Shape& shape) {
  LexState scalars = kDead;
  const auto add_text = [&](const std::string& text) {
    scalars = scalars == kDead ? lexicon_.add_sparse(false) : scalars;
    LexState state = scalars;
    for (const char c : text) {
      state = lexicon_.extend(state, static_cast<std::uint8_t>(c));
    }
    lexicon_.set_accepts(state);
  };
  for (const Json* value : *shape.values) {
    if (!shapes_.allows(shape, *value)) {
      continue;
    }
    if (value->is_structured()) {
      pieces.push_back(lexeme(add_value(lexicon_, *value)));
    } else if (value->is_string()) {
      add_text(canonical_string(value->get_ref<const std::string&>()));
    } else {
      add_text(value->dump());
    }
    if (value->is_number_float()) {
      const auto number = parse_decimal(value->dump());
      if (number && number->integer.size() + number->fraction.size() < 30) {
        add_text(number->text());
      }
    }
  }
  if (scalars != kDead) {
    pieces.push_back(lexeme(scalars));
  }
}

void SchemaCompiler::build_array(RuleId rule, const Shape& shape) {
  const CommonStates& common = Lexicon::common();
  const std::uint64_t max = shape.max_items;
  for (const Json* schema : shape.arrays) {
    const auto unique = schema->find("uniqueItems");
    if (unique != schema->end() && unique->get<bool>() && max > 1) {
      document_.fail(ErrorCode::Unsupported, *schema, "uniqueItems", "is not supported");
    }
  }
  const std::size_t prefix = ShapeMaker::n_prefix_items(shape);
  const std::uint64_t unrolled =
      max != Shape::kNoMax ? max : std::max<std::uint64_t>(prefix, shape.min_items);
  if (unrolled > kMaxUnrolledItems) {
    document_.fail(ErrorCode::Unsupported, *shape.holder,
                   max != Shape::kNoMax ? "maxItems" : "minItems",
                   "above " + std::to_string(kMaxUnrolledItems) + " is not supported");
  }
  const RuleState end = rules_.add_state();
  rules_.set_final(end);
  const RuleState start = rules_.add_state();
  RuleState before = rules_.add_state();  // an item
  rules_.add_edge(rules_.entry(rule), lexeme(common.open_bracket), start);
  rules_.add_skip(start, before);
  if (shape.min_items == 0) {
    rules_.add_edge(start, lexeme(common.bare_close_bracket), end);
  }
  for (std::size_t n = 0; n < max; ++n) {
    const RuleState behind = rules_.add_state();
    for (const Piece& piece : Pieces(pieces_of(shapes_.item_schemas(shape, n)))) {
      rules_.add_edge(before, piece, behind);
    }
    if (n + 1 >= shape.min_items) {
      rules_.add_edge(behind, lexeme(common.close_bracket), end);
    }
    if (n >= unrolled) {  // all further items are alike
      rules_.add_edge(behind, lexeme(common.comma), before);
      break;
    }
    before = rules_.add_state();
    rules_.add_edge(behind, lexeme(common.comma), before);
  }
}

}  // namespace smol::grammar
