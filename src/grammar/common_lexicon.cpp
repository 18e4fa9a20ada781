#include "grammar/common_lexicon.h"

#include "grammar/lowering.h"
#include "grammar/regex.h"

namespace smol::grammar {
namespace {

void set_range(Lexicon& lexicon, LexState from, unsigned first, unsigned last, LexState to) {
  for (unsigned byte = first; byte <= last; ++byte) {
    lexicon.set(from, static_cast<std::uint8_t>(byte), to);
  }
}

void set_hex(Lexicon& lexicon, LexState from, unsigned first, unsigned last, LexState to) {
  for (unsigned digit = first; digit <= last; ++digit) {
    lexicon.set(from, static_cast<std::uint8_t>("0123456789abcdef"[digit]), to);
    lexicon.set(from, static_cast<std::uint8_t>("0123456789ABCDEF"[digit]), to);
  }
}

// A state from which `n_digits` hexadecimal digits lead to `to`.
LexState hex_chain(Lexicon& lexicon, int n_digits, LexState to) {
  for (int i = 0; i < n_digits; ++i) {
    const LexState state = lexicon.add_dense(false);
    set_hex(lexicon, state, 0, 15, to);
    to = state;
  }
  return to;
}

}  // namespace

const CommonLexicon& CommonLexicon::get() {
  static const CommonLexicon kCommon;
  return kCommon;
}

CommonLexicon::CommonLexicon() : lexicon(Lexicon::Empty{}), states{} {
  states.accept = lexicon.add_dense(true);
  add_separators();
  states.literal_null = add_literal_word("null");
  states.literal_true = add_literal_word("true");
  states.literal_false = add_literal_word("false");
  add_string();
  StepBudget budget;
  RegexPool pool(budget);
  states.key = lower_string(lexicon, pool.automaton(pool.anything()), states.colon);
  states.key_inside = lexicon.next(states.key, '"');
  add_numbers();
  lexicon.finish();
  states.end = static_cast<LexState>(lexicon.dense_size());
}

LexState CommonLexicon::byte_then(char byte, LexState to) {
  const LexState state = lexicon.add_dense(false);
  lexicon.set(state, static_cast<std::uint8_t>(byte), to);
  return state;
}

// At most one space or newline, then what leads on from `inner`.
LexState CommonLexicon::space_then(LexState inner) {
  const LexState state = lexicon.add_dense(lexicon.accepts(inner));
  lexicon.set_row(state, lexicon.row(inner));
  lexicon.set(state, ' ', inner);
  lexicon.set(state, '\n', inner);
  return state;
}

void CommonLexicon::add_separators() {
  const LexState accept = states.accept;
  const LexState space_behind = space_then(accept);
  states.colon = space_then(byte_then(':', space_behind));
  states.comma = space_then(byte_then(',', space_behind));
  states.open_brace = byte_then('{', space_behind);
  states.open_bracket = byte_then('[', space_behind);
  states.bare_close_brace = byte_then('}', accept);
  states.bare_close_bracket = byte_then(']', accept);
  states.close_brace = space_then(states.bare_close_brace);
  states.close_bracket = space_then(states.bare_close_bracket);
}

LexState CommonLexicon::add_literal_word(const char* word) {
  const std::string_view text(word);
  LexState state = states.accept;
  for (std::size_t i = text.size(); i-- > 0;) {
    state = byte_then(text[i], state);
  }
  return state;
}

LexState CommonLexicon::add_escape(LexState inside) {
  const LexState escape = lexicon.add_dense(false);
  for (const char letter : std::string_view("\"\\/bfnrt")) {
    lexicon.set(escape, static_cast<std::uint8_t>(letter), inside);
  }
  const LexState digits = lexicon.add_dense(false);
  lexicon.set(escape, 'u', digits);
  const LexState two_more = hex_chain(lexicon, 2, inside);
  set_hex(lexicon, digits, 0, 15, hex_chain(lexicon, 1, two_more));
  // D8-DB begins a pair of surrogates, DC-DF cannot stand alone.
  const LexState behind_d = lexicon.add_dense(false);
  set_hex(lexicon, digits, 13, 13, behind_d);
  set_hex(lexicon, behind_d, 0, 7, two_more);
  const LexState low = lexicon.add_dense(false);
  set_hex(lexicon, low, 12, 15, two_more);
  const LexState low_d = lexicon.add_dense(false);
  set_hex(lexicon, low_d, 13, 13, low);
  set_hex(lexicon, behind_d, 8, 11, hex_chain(lexicon, 2, byte_then('\\', byte_then('u', low_d))));
  return escape;
}

// UTF-8 (Unicode 15, table 3-7).
void CommonLexicon::add_continuations(LexState inside) {
  const auto then = [&](unsigned first, unsigned last, LexState to) {
    const LexState state = lexicon.add_dense(false);
    set_range(lexicon, state, first, last, to);
    return state;
  };
  const LexState one = then(0x80, 0xBF, inside);
  const LexState two = then(0x80, 0xBF, one);
  set_range(lexicon, inside, 0xC2, 0xDF, one);
  set_range(lexicon, inside, 0xE1, 0xEF, two);
  lexicon.set(inside, 0xE0, then(0xA0, 0xBF, one));
  lexicon.set(inside, 0xED, then(0x80, 0x9F, one));
  set_range(lexicon, inside, 0xF1, 0xF3, then(0x80, 0xBF, two));
  lexicon.set(inside, 0xF0, then(0x90, 0xBF, two));
  lexicon.set(inside, 0xF4, then(0x80, 0x8F, two));
}

void CommonLexicon::add_string() {
  const LexState inside = lexicon.add_dense(false);
  set_range(lexicon, inside, 0x20, 0x7F, inside);
  lexicon.set(inside, '"', states.accept);
  lexicon.set(inside, '\\', add_escape(inside));
  add_continuations(inside);
  states.string_inside = inside;
  states.string = byte_then('"', inside);
}

// JSON's numbers; exponents so small that a double holds the number.
void CommonLexicon::add_numbers() {
  StepBudget budget;
  RegexPool pool(budget);
  const Regex digit = pool.one_of(digits());
  const Regex any_digits = pool.repeat(digit, 0, RegexPool::kUnbounded);
  const Regex integer = pool.concat(
      pool.repeat(pool.text("-"), 0, 1),
      pool.either({pool.text("0"), pool.concat(pool.one_of({{'1', '9'}}), any_digits)}));
  const Regex fraction = pool.concat(pool.text("."), pool.concat(digit, any_digits));
  const Regex size = pool.either(
      {pool.repeat(digit, 1, 2), pool.concat(pool.one_of({{'1', '2'}}), pool.repeat(digit, 2, 2))});
  const Regex exponent =
      pool.concat(pool.one_of({{'E', 'E'}, {'e', 'e'}}),
                  pool.concat(pool.repeat(pool.one_of({{'+', '+'}, {'-', '-'}}), 0, 1), size));
  states.integer = lower_text(lexicon, pool.automaton(integer));
  states.number = lower_text(
      lexicon, pool.automaton(pool.concat(integer, pool.concat(pool.repeat(fraction, 0, 1),
                                                               pool.repeat(exponent, 0, 1)))));
}

}  // namespace smol::grammar
