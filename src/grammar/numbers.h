// JSON numbers within bounds, as automata.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "grammar/lexicon.h"
#include "grammar/regex.h"

namespace smol::grammar {

// A decimal number, exactly.
struct Decimal {
  bool negative = false;
  std::string integer = "0";  // no leading zeros
  std::string fraction;       // no trailing zeros

  bool is_zero() const noexcept { return integer == "0" && fraction.empty(); }

  bool is_integer() const noexcept { return fraction.empty(); }

  std::string text() const;
  friend bool operator==(const Decimal&, const Decimal&) = default;
};

// Of a JSON number, with or without exponent. nullopt beyond 400 digits before or behind the point.
std::optional<Decimal> parse_decimal(std::string_view json_number);
// Negative, zero, positive as a < b, a == b, a > b.
int compare(const Decimal& a, const Decimal& b) noexcept;

struct NumberBound {
  Decimal value;
  bool exclusive = false;
};

struct NumberRules {
  bool integer = false;  // written without a fraction
  std::optional<NumberBound> min, max;
  std::vector<Decimal> multiples_of;  // positive

  bool any() const noexcept { return min || max || !multiples_of.empty(); }

  // Narrows what is there.
  void add_min(const NumberBound& bound);
  void add_max(const NumberBound& bound);
  bool allows(const Decimal& value, StepBudget& budget) const;
};

// The numbers that keep the rules, as texts; empty where there is none. Exponents are written only
// where no bound but 0 is set and nothing else. Throws Error{Unsupported} for a multiple too large,
// Error{Exhausted} when the budget is spent.
CharDfa number_automaton(const NumberRules& rules, StepBudget& budget);

}  // namespace smol::grammar
