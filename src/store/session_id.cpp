#include "store/session_id.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <sys/random.h>

#include "base/error.h"

namespace smol::store {

SessionId new_session_id() {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<::ssize_t>(bytes.size())) {
    throw Error(ErrorCode::Io,
                std::string("session id: expected 16 random bytes from the kernel (") +
                    std::strerror(errno) + ")");
  }
  constexpr const char* kDigits = "0123456789abcdef";
  SessionId id;
  for (const unsigned char byte : bytes) {
    id += kDigits[byte >> 4U];
    id += kDigits[byte & 15U];
  }
  return id;
}

}  // namespace smol::store
