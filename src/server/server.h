// The HTTP server: a listener, I/O threads with one coroutine per connection, and worker threads
// for handlers.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "server/limits.h"
#include "server/metrics.h"
#include "server/request_log.h"
#include "server/router.h"

namespace smol::server {

struct ServerOptions {
  std::string host = "127.0.0.1";  // an address, or localhost
  std::uint16_t port = 3000;       // 0: one that is free
  std::size_t io_threads = 1;
  std::size_t worker_threads = 2;
  Limits limits = {};
};

// Whether only this machine reaches the address. Throws Error{BadInput} for other text than
// "localhost" or an IP address.
bool is_loopback(const std::string& host);

// Used by one thread.
class Server {
 public:
  // Listens and serves from now on. What is given must outlive it. Throws Error{Io} naming host and
  // port if it cannot listen there.
  Server(const ServerOptions& options, const Router& router, Metrics& metrics, RequestLog& log);
  // Stops without patience.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::uint16_t port() const noexcept;

  // Takes no new work; answers in progress get `grace`, are then cancelled and get `last_words` to
  // say so. Returns when all connections are closed.
  void stop(std::chrono::milliseconds grace, std::chrono::milliseconds last_words);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace smol::server
