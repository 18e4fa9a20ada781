// A socket as a coroutine uses it: reads and writes are started and tell when they have come on,
// and the coroutine waits for one thing only, notify().
#pragma once

#include <array>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace smol::server {

// On the socket's strand only.
class Channel : public std::enable_shared_from_this<Channel> {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Channel(boost::asio::ip::tcp::socket socket);

  boost::asio::any_io_executor executor() { return socket_.get_executor(); }

  std::string peer() const;

  // Something has come on since the last wait(); false: the time is over.
  boost::asio::awaitable<bool> wait(Clock::time_point deadline);
  void notify();

  // Reads on into unread(), if no read is under way. While a client sends much too early its bytes
  // stay in the system's buffer.
  void start_read();

  std::string& unread() noexcept { return unread_; }

  // Nothing more comes: the client closed its side, or the socket was closed here.
  bool gone() const noexcept { return gone_; }

  void queue(std::string_view bytes) { queued_ += bytes; }

  // Sends on what is queued, if no write is under way.
  void start_write();

  bool is_writing() const noexcept { return is_writing_; }

  bool write_failed() const noexcept { return write_failed_; }

  std::uint64_t sent_bytes() const noexcept { return sent_bytes_; }

  enum class Sent { All, Failed, TooSlow };
  // Sends all that is queued; TooSlow: for `patience` nothing could be sent.
  boost::asio::awaitable<Sent> send_queued(std::chrono::milliseconds patience);

  // Ends the own side and throws away what still comes, until the other side ends too or the time
  // is over: a client that is sending a body can so read why it was refused.
  boost::asio::awaitable<void> linger(std::chrono::milliseconds time);
  void close();

 private:
  static constexpr std::size_t kReadBytes = 16UL << 10U;

  boost::asio::ip::tcp::socket socket_;
  boost::asio::steady_timer signal_;
  bool notified_ = false;
  std::array<char, kReadBytes> read_buffer_{};
  std::string unread_;
  bool reading_ = false, gone_ = false;
  std::string queued_, writing_;
  std::size_t written_ = 0;  // of writing_
  bool is_writing_ = false, write_failed_ = false;
  std::uint64_t sent_bytes_ = 0;
};

}  // namespace smol::server
