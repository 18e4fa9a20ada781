// SHA-256 (FIPS 180-4).
#pragma once

#include <string>
#include <string_view>

namespace smol::app {

// 64 hexadecimal digits in lower case.
std::string sha256_hex(std::string_view text);

}  // namespace smol::app
