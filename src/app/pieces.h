// Tokens as a person reads them.
#pragma once

#include <string>
#include <string_view>

namespace smol::app {

// In single quotes: bytes that are no valid UTF-8 and control characters as \xNN, \n, \t, \r.
std::string shown_piece(std::string_view bytes);

}  // namespace smol::app
