// A client that speaks raw bytes over a blocking socket.
#pragma once

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cstddef>
#include <cstdint>
#include <netinet/in.h>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

#include <gtest/gtest.h>

namespace smol::server {

class SocketClient {
 public:
  explicit SocketClient(std::uint16_t port, int receive_bytes = 0)
      : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    if (receive_bytes != 0) {
      ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof(receive_bytes));
    }
    timeval patience{30, 0};  // a server that hangs fails the test
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): the system's interface
    const auto* plain = reinterpret_cast<const sockaddr*>(&address);
    EXPECT_EQ(::connect(socket_, plain, sizeof(address)), 0);
  }

  ~SocketClient() { leave(); }

  SocketClient(const SocketClient&) = delete;
  SocketClient& operator=(const SocketClient&) = delete;

  void send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const auto sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) {
        return;
      }
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }

  void leave() {
    if (socket_ >= 0) {
      ::close(socket_);
      socket_ = -1;
    }
  }

  // Up to and with `end`; the rest is kept. All there is when the server closes first.
  std::string read_until(std::string_view end) {
    std::size_t at = 0;
    std::size_t from = 0;
    while ((at = received_.find(end, from)) == std::string::npos) {
      from = received_.size() - std::min(received_.size(), end.size());
      if (!read_some()) {
        return std::exchange(received_, {});
      }
    }
    std::string out = received_.substr(0, at + end.size());
    received_.erase(0, at + end.size());
    return out;
  }

  std::string read_to_end() {
    while (read_some()) {
    }
    return std::exchange(received_, {});
  }

  // One response with a Content-Length.
  std::string read_response() {
    std::string head = read_until("\r\n\r\n");
    const std::size_t at = head.find("Content-Length: ");
    const std::size_t size = at == std::string::npos ? 0 : std::stoul(head.substr(at + 16));
    while (received_.size() < size && read_some()) {
    }
    const std::string body = received_.substr(0, size);
    received_.erase(0, size);
    return head + body;
  }

 private:
  bool read_some() {
    std::array<char, 65536> buffer{};
    const auto size = ::recv(socket_, buffer.data(), buffer.size(), 0);
    if (size > 0) {
      received_.append(buffer.data(), static_cast<std::size_t>(size));
    }
    return size > 0;
  }

  int socket_;
  std::string received_;
};

}  // namespace smol::server
