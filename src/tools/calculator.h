// Arithmetic on doubles: + - * / % ^, parentheses, pi and e, sqrt abs exp ln log sin cos tan floor
// ceil round min max.
#pragma once

#include <string>
#include <string_view>

namespace smol::tools {

// Throws Error{BadInput}: no expression, at which character; a result that is no finite number; an
// expression too long or too deep.
double evaluate(std::string_view expression);

// As short as it can be without losing a digit, without an exponent up to 15 digits.
std::string number_text(double value);

}  // namespace smol::tools
