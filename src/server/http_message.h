// HTTP requests and responses as plain data (RFC 9110): handlers see no sockets.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smol::server {

struct HeaderField {
  std::string name, value;
};

// ASCII letters compare without case.
bool same_name(std::string_view a, std::string_view b) noexcept;

class Headers {
 public:
  Headers() = default;

  Headers(std::initializer_list<HeaderField> fields) : fields_(fields) {}

  void add(std::string_view name, std::string_view value);
  // The first of that name.
  std::optional<std::string_view> find(std::string_view name) const noexcept;
  std::size_t count(std::string_view name) const noexcept;

  auto begin() const noexcept { return fields_.begin(); }

  auto end() const noexcept { return fields_.end(); }

 private:
  std::vector<HeaderField> fields_;
};

struct HttpRequest {
  std::string method;  // as sent: GET
  std::string path;    // percent-encoded, begins with '/' (or is "*")
  std::string query;   // what follows '?', percent-encoded
  Headers headers;
  std::string body;
  bool is_http_1_0 = false;
  std::string client;  // the address it came from
  std::string id;      // of this request, in the log and in X-Request-Id
  std::string rest;    // what the path holds where its route's pattern has {…}, decoded
};

struct HttpResponse {
  int status = 200;
  Headers headers = {};
  std::string body = {};
};

// "Not Found"
std::string_view reason_of(int status) noexcept;

// The text that %xx stand for. Nothing for a broken escape, a zero byte or invalid UTF-8.
std::optional<std::string> percent_decoded(std::string_view text);

// Status line and fields, up to the empty line.
std::string head_text(const HttpResponse& response);

}  // namespace smol::server
