#include "server/random_id.h"

#include <random>
#include <string_view>

namespace smol::server {

std::string random_id() {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::random_device device;
  std::string out;
  for (int word = 0; word < 4; ++word) {
    const unsigned bits = device();
    for (unsigned shift = 0; shift < 32; shift += 4) {
      out += kDigits[(bits >> shift) & 15U];
    }
  }
  return out;
}

}  // namespace smol::server
