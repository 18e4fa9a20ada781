// What one server takes at most, and how long it waits.
#pragma once

#include <chrono>
#include <cstddef>

namespace smol::server {

struct Limits {
  std::size_t header_bytes = 16UL << 10U;
  std::size_t body_bytes = 16UL << 20U;
  std::size_t all_bodies_bytes = 256UL << 20U;  // of all requests that are being read or answered
  std::size_t connections = 2048;
  std::chrono::milliseconds request_time{30000};  // from the first byte of a request to its last
  std::chrono::milliseconds keep_alive{75000};    // between requests
  std::chrono::milliseconds slow_reader{60000};   // without progress
};

}  // namespace smol::server
