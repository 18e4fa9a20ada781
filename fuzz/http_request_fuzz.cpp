// The first byte chooses: the rest is what a connection receives (cut after so many bytes each), or
// the body of a request. However it is cut it must give the same request or the same refusal, and a
// body becomes a typed request or an Error that makes an error object.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "base/json.h"
#include "server/access.h"
#include "server/api_error.h"
#include "server/chat_request.h"
#include "server/completion_request.h"
#include "server/request_body.h"
#include "server/request_reader.h"

namespace {

using smol::server::HttpRequest;
using smol::server::RequestReader;

constexpr std::size_t kHeaderBytes = 4096;
constexpr std::size_t kBodyBytes = 65536;

struct Outcome {
  int status = 0;  // 0: more is to come
  HttpRequest request;
};

// Until it is complete, or nothing more can be used.
void feed_all(RequestReader& reader, std::string& unread) {
  std::size_t used = 1;
  while (used != 0 && reader.state() != RequestReader::State::Complete) {
    const auto before = reader.state();
    used = reader.feed(unread);
    unread.erase(0, used);
    if (before == RequestReader::State::Head && reader.state() != before) {
      reader.limit_body(kBodyBytes);
    }
  }
}

// As a connection reads: what was not used comes again, with more behind it.
Outcome read(std::string_view text, std::size_t size) {
  RequestReader reader(kHeaderBytes);
  std::string unread;
  try {
    while (!text.empty() && reader.state() != RequestReader::State::Complete) {
      unread += text.substr(0, size);
      text.remove_prefix(std::min(size, text.size()));
      feed_all(reader, unread);
    }
  } catch (const smol::server::BadRequest& error) {
    return {error.status(), {}};
  }
  return reader.state() == RequestReader::State::Complete ? Outcome{200, reader.take()} : Outcome{};
}

void read_connection(std::string_view bytes, std::size_t size) {
  const Outcome whole = read(bytes, bytes.size());
  const Outcome cut = read(bytes, size);
  // What is refused at once when whole may wait for its end when cut.
  SMOL_CHECK(whole.status == cut.status || whole.status >= 400);
  if (whole.status != 200) {
    return;
  }
  SMOL_CHECK(whole.request.body == cut.request.body && whole.request.path == cut.request.path);
  const auto refused = smol::server::refuse_site(whole.request, {.origins = {"https://a.example"}});
  SMOL_CHECK(!refused || refused->status == 403 || refused->status == 400);
  smol::server::Headers headers;
  smol::server::add_safety_headers(whole.request, headers);
  smol::server::percent_decoded(whole.request.path);
}

template <class Read>
void expect_object(const Read& read_request) {
  try {
    read_request();
  } catch (const smol::Error& error) {
    const auto response = smol::server::to_response(smol::server::api_error_of(error));
    SMOL_CHECK(smol::parse_json(response.body, "response").at("error").at("message").is_string());
  }
}

void read_body(std::string body) {
  smol::chat::ModelFacts model;
  model.id = "demo";
  model.vocab_size = 1000;
  model.context = 512;
  HttpRequest request;
  request.body = std::move(body);
  expect_object([&] { smol::server::read_chat_request(smol::server::parse_body(request), model); });
  expect_object(
      [&] { smol::server::read_completion_request(smol::server::parse_body(request), model); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  constexpr unsigned kBodyBit = 128;
  const std::string bytes(data + 1, data + size);
  if ((data[0] & kBodyBit) != 0) {
    read_body(bytes);
  } else {
    read_connection(bytes, data[0] % 32U + 1U);
  }
  return 0;
}
