#include "server/channel.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

namespace smol::server {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

constexpr std::size_t kMostEarlyBytes = 64UL << 10U;

}  // namespace

Channel::Channel(asio::ip::tcp::socket socket)
    : socket_(std::move(socket)), signal_(socket_.get_executor()) {
  error_code ignored;
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
}

std::string Channel::peer() const {
  error_code error;
  const auto endpoint = socket_.remote_endpoint(error);
  return error ? "" : endpoint.address().to_string();
}

asio::awaitable<bool> Channel::wait(Clock::time_point deadline) {
  if (!notified_) {
    signal_.expires_at(deadline);
    error_code ignored;
    co_await signal_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
  co_return std::exchange(notified_, false);
}

void Channel::notify() {
  notified_ = true;
  signal_.cancel();
}

void Channel::start_read() {
  if (reading_ || gone_ || unread_.size() >= kMostEarlyBytes) {
    return;
  }
  reading_ = true;
  socket_.async_read_some(asio::buffer(read_buffer_),
                          [self = shared_from_this()](error_code error, std::size_t size) {
                            self->reading_ = false;
                            self->gone_ = self->gone_ || error;
                            self->unread_.append(self->read_buffer_.data(), size);
                            self->notify();
                          });
}

void Channel::start_write() {
  if (is_writing_ || write_failed_) {
    return;
  }
  if (written_ == writing_.size()) {
    writing_ = std::exchange(queued_, {});
    written_ = 0;
  }
  if (writing_.empty()) {
    return;
  }
  is_writing_ = true;
  const std::string_view rest = std::string_view(writing_).substr(written_);
  socket_.async_write_some(asio::buffer(rest.data(), rest.size()),
                           [self = shared_from_this()](error_code error, std::size_t size) {
                             self->is_writing_ = false;
                             self->write_failed_ = static_cast<bool>(error);
                             self->written_ += size;
                             self->sent_bytes_ += size;
                             self->notify();
                           });
}

asio::awaitable<Channel::Sent> Channel::send_queued(std::chrono::milliseconds patience) {
  start_write();
  auto deadline = Clock::now() + patience;
  while (is_writing_) {
    const std::uint64_t before = sent_bytes_;
    const bool told = co_await wait(deadline);
    if (sent_bytes_ != before) {
      deadline = Clock::now() + patience;
    } else if (!told) {
      co_return Sent::TooSlow;
    }
    start_write();
  }
  co_return write_failed_ ? Sent::Failed : Sent::All;
}

asio::awaitable<void> Channel::linger(std::chrono::milliseconds time) {
  error_code ignored;
  socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  const auto deadline = Clock::now() + time;
  bool in_time = true;
  while (in_time && !gone_ && !write_failed_) {
    unread_.clear();
    start_read();
    in_time = co_await wait(deadline);
  }
}

void Channel::close() {
  gone_ = true;
  error_code ignored;
  socket_.close(ignored);
  notify();
}

}  // namespace smol::server
