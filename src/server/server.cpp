#include "server/server.h"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "server/api_error.h"
#include "server/connection.h"

namespace smol::server {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

constexpr int kBacklog = 4096;
// When the system has no descriptor left, until some connection gives one back.
constexpr std::chrono::milliseconds kAcceptPause{100};
constexpr std::chrono::milliseconds kLookAgain{10};

asio::ip::address address_of(const std::string& host) {
  error_code error;
  auto address = asio::ip::make_address(host == "localhost" ? "127.0.0.1" : host, error);
  if (error) {
    throw Error{ErrorCode::BadInput, "--host: expected an IP address or localhost, found " + host};
  }
  return address;
}

std::string too_many_connections() {
  HttpResponse response = to_response({.status = 503,
                                       .message = "connections: expected fewer, found the most "
                                                  "that this server takes",
                                       .type = "server_error",
                                       .code = "too_many_connections"});
  response.headers.add("Content-Length", std::to_string(response.body.size()));
  response.headers.add("Connection", "close");
  return head_text(response) + response.body;
}

}  // namespace

bool is_loopback(const std::string& host) {
  return address_of(host).is_loopback();
}

class Server::Impl {
 public:
  Impl(const ServerOptions& options, const Router& router, Metrics& metrics, RequestLog& log)
      : limits_(options.limits),
        workers_(options.worker_threads),
        acceptor_(asio::make_strand(io_)),
        context_{router, limits_, metrics, log, workers_.get_executor()},
        too_many_(too_many_connections()) {
    listen(options);
    asio::co_spawn(acceptor_.get_executor(), accept(), asio::detached);
    for (std::size_t i = 0; i < options.io_threads; ++i) {
      threads_.emplace_back([this] { io_.run(); });
    }
  }

  ~Impl() {
    stop(std::chrono::milliseconds(0), std::chrono::milliseconds(0));
    work_.reset();
    workers_.join();
    for (std::thread& thread : threads_) {
      thread.join();
    }
  }

  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  std::uint16_t port() const noexcept { return port_; }

  void stop(std::chrono::milliseconds grace, std::chrono::milliseconds last_words);

 private:
  void listen(const ServerOptions& options);
  asio::awaitable<void> accept();
  void admit(tcp::socket socket);
  std::vector<std::shared_ptr<Connection>> connections();
  template <class Ready>
  void wait_until(const Ready& ready, std::chrono::milliseconds time);

  Limits limits_;
  asio::io_context io_;
  asio::executor_work_guard<asio::io_context::executor_type> work_{io_.get_executor()};
  asio::thread_pool workers_;
  tcp::acceptor acceptor_;
  std::uint16_t port_ = 0;
  ConnectionContext context_;
  std::string too_many_;
  std::mutex mutex_;
  std::vector<std::weak_ptr<Connection>> connections_;
  std::vector<std::thread> threads_;
};

void Server::Impl::listen(const ServerOptions& options) {
  const tcp::endpoint endpoint(address_of(options.host), options.port);
  error_code error;
  acceptor_.open(endpoint.protocol(), error);
  if (!error) {
    acceptor_.set_option(asio::socket_base::reuse_address(true), error);
  }
  if (!error) {
    acceptor_.bind(endpoint, error);
  }
  if (!error) {
    acceptor_.listen(kBacklog, error);
  }
  if (error) {
    throw Error{ErrorCode::Io, "--host " + options.host + " --port " +
                                   std::to_string(options.port) +
                                   ": expected an address to listen on, found: " + error.message()};
  }
  port_ = acceptor_.local_endpoint().port();
}

asio::awaitable<void> Server::Impl::accept() {
  asio::steady_timer pause(acceptor_.get_executor());
  while (!context_.stopping) {
    error_code error;
    tcp::socket socket = co_await acceptor_.async_accept(
        asio::make_strand(io_), asio::redirect_error(asio::use_awaitable, error));
    if (!error) {
      admit(std::move(socket));
    } else if (acceptor_.is_open()) {
      pause.expires_after(kAcceptPause);
      co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, error));
    }
  }
}

void Server::Impl::admit(tcp::socket socket) {
  if (context_.metrics.connections.load() >= static_cast<std::int64_t>(limits_.connections)) {
    error_code ignored;
    socket.non_blocking(true, ignored);
    socket.write_some(asio::buffer(too_many_), ignored);
    return;
  }
  const std::lock_guard lock(mutex_);
  std::erase_if(connections_, [](const auto& connection) { return connection.expired(); });
  connections_.push_back(serve(std::move(socket), context_));
}

std::vector<std::shared_ptr<Connection>> Server::Impl::connections() {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Connection>> out;
  for (const auto& weak : connections_) {
    if (auto connection = weak.lock()) {
      out.push_back(std::move(connection));
    }
  }
  return out;
}

// The end of a server is no place to save a few polls.
template <class Ready>
void Server::Impl::wait_until(const Ready& ready, std::chrono::milliseconds time) {
  const auto deadline = std::chrono::steady_clock::now() + time;
  while (!ready() && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(kLookAgain);
  }
}

void Server::Impl::stop(std::chrono::milliseconds grace, std::chrono::milliseconds last_words) {
  context_.stopping = true;
  asio::post(acceptor_.get_executor(), [this] {
    error_code ignored;
    acceptor_.close(ignored);
  });
  const auto each = [this](void (*action)(const std::shared_ptr<Connection>&)) {
    for (const auto& connection : connections()) {
      action(connection);
    }
  };
  const auto nothing_runs = [this] { return context_.busy == 0; };
  const auto all_closed = [this] { return connections().empty(); };
  each(end_when_idle);
  wait_until(nothing_runs, grace);
  each(cancel_answer);
  wait_until(nothing_runs, last_words);
  each(close_now);
  wait_until(all_closed, std::chrono::seconds(1));
}

Server::Server(const ServerOptions& options, const Router& router, Metrics& metrics,
               RequestLog& log)
    : impl_(std::make_unique<Impl>(options, router, metrics, log)) {}

Server::~Server() = default;

std::uint16_t Server::port() const noexcept {
  return impl_->port();
}

void Server::stop(std::chrono::milliseconds grace, std::chrono::milliseconds last_words) {
  impl_->stop(grace, last_words);
}

}  // namespace smol::server
