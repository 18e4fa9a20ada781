// One client's connection: requests one after the other, each answered before the next is read.
#pragma once

#include <atomic>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstddef>
#include <memory>

#include "server/limits.h"
#include "server/metrics.h"
#include "server/request_log.h"
#include "server/router.h"

namespace smol::server {

// What all connections of a server share. Outlives them.
struct ConnectionContext {
  const Router& router;
  const Limits& limits;
  Metrics& metrics;
  RequestLog& log;
  boost::asio::any_io_executor workers;    // handlers that compute or wait run there
  std::atomic<std::size_t> body_bytes{0};  // of all requests that are held
  std::atomic<std::size_t> busy{0};        // connections with a request that is not answered
  std::atomic<bool> stopping{false};       // no new work
};

class Connection;

// Serves the socket, whose executor must be a strand, until either side ends it.
std::shared_ptr<Connection> serve(boost::asio::ip::tcp::socket socket, ConnectionContext& context);

// Any thread: closes an idle connection now, one with a request after its answer.
void end_when_idle(const std::shared_ptr<Connection>& connection);
// Any thread: the answer in progress is to end early.
void cancel_answer(const std::shared_ptr<Connection>& connection);
// Any thread: ends it, whatever it does.
void close_now(const std::shared_ptr<Connection>& connection);

}  // namespace smol::server
