// What text from outside must be before it is kept.
#pragma once

#include <string_view>

#include "store/types.h"

namespace smol::store {

// Throws Error{BadInput} with the name of the thing unless the text is UTF-8.
void check_text(std::string_view text, std::string_view what);
void check_input(const UserInput& input);
void check_answer(const Answer& answer);

}  // namespace smol::store
