// Bytes of a connection -> one HTTP request (RFC 9112), by Beast's parser. No sockets: tests and
// the fuzzer feed it by hand.
#pragma once

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "server/http_message.h"

namespace smol::server {

// What was sent is no request that this server reads. The connection cannot go on.
class BadRequest : public std::runtime_error {
 public:
  BadRequest(int status, const std::string& message)
      : std::runtime_error(message), status_(status) {}

  int status() const noexcept { return status_; }

 private:
  int status_;
};

class RequestReader {
 public:
  enum class State { Head, Body, Complete };

  explicit RequestReader(std::size_t header_bytes);
  ~RequestReader();
  RequestReader(const RequestReader&) = delete;
  RequestReader& operator=(const RequestReader&) = delete;

  // Reads on; returns how many bytes were used: those not used are to come again, with more behind
  // them. Stops behind the head and behind the body. Throws BadRequest.
  std::size_t feed(std::string_view bytes);
  State state() const noexcept;

  // From State::Body on; without the body.
  const HttpRequest& head() const noexcept;
  // Of the body, known when its head is. Throws BadRequest if it is said to be longer.
  void limit_body(std::size_t most_bytes);
  std::size_t body_bytes() const noexcept;  // so far
  bool wants_continue() const noexcept;     // the client waits for "100 Continue"
  bool keep_alive() const noexcept;

  // In State::Complete: the request, body included.
  HttpRequest take();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace smol::server
