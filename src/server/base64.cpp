#include "server/base64.h"

#include <algorithm>
#include <cstddef>

namespace smol::server {

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  while (!bytes.empty()) {
    const std::size_t n = std::min<std::size_t>(3, bytes.size());
    unsigned group = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      group = group << 8U | (i < n ? static_cast<unsigned char>(bytes[i]) : 0U);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      out += i <= n ? kDigits[(group >> (18U - 6U * i)) & 63U] : '=';
    }
    bytes.remove_prefix(n);
  }
  return out;
}

}  // namespace smol::server
