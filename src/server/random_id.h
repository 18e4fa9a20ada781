// Names that nobody can guess.
#pragma once

#include <string>

namespace smol::server {

// 128 random bits from the system, as 32 hexadecimal digits. Any thread.
std::string random_id();

}  // namespace smol::server
