#include "server/request_reader.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/buffers_range.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/fields.hpp>
#include <boost/beast/http/parser.hpp>
#include <cstdint>
#include <optional>
#include <utility>

namespace smol::server {
namespace http = boost::beast::http;

// A string that grows with what really comes, not with what Content-Length promises.
struct GrowingBody {
  using value_type = std::string;

  class reader {  // NOLINT(readability-identifier-naming): Beast's name
   public:
    template <bool IsRequest, class FieldMap>
    reader(http::header<IsRequest, FieldMap>&, std::string& body) : body_(body) {}

    static void init(const boost::optional<std::uint64_t>&, boost::beast::error_code& error) {
      error = {};
    }

    template <class Buffers>
    std::size_t put(const Buffers& buffers, boost::beast::error_code& error) {
      error = {};
      std::size_t size = 0;
      for (const auto& buffer : boost::beast::buffers_range_ref(buffers)) {
        body_.append(static_cast<const char*>(buffer.data()), buffer.size());
        size += buffer.size();
      }
      return size;
    }

    static void finish(boost::beast::error_code& error) { error = {}; }

   private:
    std::string& body_;
  };
};

namespace {

// A chunk's size line, or a line behind the last chunk, is never so long.
constexpr std::size_t kMostUnreadBytes = 64UL << 10U;

// The shortest last chunk: "0" and an empty line. Where it has seen the "0" and looks for the end,
// Beast (1.81) asserts that many bytes, though they come as they come.
constexpr std::size_t kLastChunkBytes = 5;

BadRequest bad_request(const boost::beast::error_code& error) {
  if (error == http::error::header_limit) {
    return {431, "header: expected fewer bytes (--max-header-bytes), found more"};
  }
  if (error == http::error::bad_version) {
    return {505, "HTTP version: expected 1.1 or 1.0, found another"};
  }
  return {400, "request: expected HTTP/1.1, found " + error.message()};
}

}  // namespace

struct RequestReader::Impl {
  http::request_parser<GrowingBody> parser;
  HttpRequest head;
  std::optional<std::size_t> most_body_bytes;
  bool has_begun = false;  // the request line, or the empty line before it

  std::size_t skip_empty_line(std::string_view bytes);
  void read_head();
  void check_head() const;
};

// Some clients end a body with a line of their own (RFC 9112, section 2.2).
std::size_t RequestReader::Impl::skip_empty_line(std::string_view bytes) {
  constexpr std::string_view kEmptyLine = "\r\n";
  has_begun = has_begun || !kEmptyLine.starts_with(bytes.substr(0, kEmptyLine.size()));
  if (has_begun || bytes.size() < kEmptyLine.size()) {
    return 0;
  }
  has_begun = true;
  return kEmptyLine.size();
}

// The parser's view of the head, as plain data.
void RequestReader::Impl::read_head() {
  const auto& message = parser.get();
  head.method = std::string(message.method_string());
  const std::string_view target(message.target().data(), message.target().size());
  const std::size_t question = target.find('?');
  head.path = std::string(target.substr(0, question));
  head.query = question == target.npos ? "" : std::string(target.substr(question + 1));
  head.is_http_1_0 = message.version() == 10;
  for (const auto& field : message) {
    head.headers.add({field.name_string().data(), field.name_string().size()},
                     {field.value().data(), field.value().size()});
  }
  check_head();
}

void RequestReader::Impl::check_head() const {
  if (!head.path.starts_with('/') && head.path != "*") {
    throw BadRequest{400, "request target: expected a path, found another form"};
  }
  const auto coding = head.headers.find("Transfer-Encoding");
  if (coding && !same_name(*coding, "chunked")) {
    throw BadRequest{501, "Transfer-Encoding: expected chunked, found another"};
  }
  if (coding && head.headers.find("Content-Length")) {
    throw BadRequest{400, "Content-Length: expected none beside Transfer-Encoding, found one"};
  }
  const auto content = head.headers.find("Content-Encoding");
  if (content && !same_name(*content, "identity")) {
    throw BadRequest{415, "Content-Encoding: expected none, found another"};
  }
  const auto expectation = head.headers.find("Expect");
  if (expectation && !same_name(*expectation, "100-continue")) {
    throw BadRequest{417, "Expect: expected 100-continue, found another"};
  }
}

RequestReader::RequestReader(std::size_t header_bytes) : impl_(std::make_unique<Impl>()) {
  impl_->parser.header_limit(static_cast<std::uint32_t>(header_bytes));
  impl_->parser.body_limit(boost::none);
}

RequestReader::~RequestReader() = default;

std::size_t RequestReader::feed(std::string_view bytes) {
  const State before = state();
  std::size_t used = before == State::Head ? impl_->skip_empty_line(bytes) : 0;
  if (!impl_->has_begun) {
    return 0;
  }
  while (used < bytes.size() && state() == before && before != State::Complete) {
    boost::beast::error_code error;
    const auto rest = bytes.substr(used);
    if (before == State::Body && impl_->parser.chunked() && rest.front() == '0' &&
        rest.size() < kLastChunkBytes) {
      break;
    }
    const std::size_t taken =
        impl_->parser.put(boost::asio::buffer(rest.data(), rest.size()), error);
    used += taken;
    if (error == http::error::need_more) {
      if (before == State::Body && rest.size() - taken > kMostUnreadBytes) {
        throw BadRequest{400, "chunk: expected a short size line, found none"};
      }
      break;
    }
    if (error) {
      throw bad_request(error);
    }
    if (before == State::Body && impl_->most_body_bytes) {
      limit_body(*impl_->most_body_bytes);
    }
  }
  if (before == State::Head && state() != State::Head) {
    impl_->read_head();
  }
  return used;
}

RequestReader::State RequestReader::state() const noexcept {
  if (!impl_->parser.is_header_done()) {
    return State::Head;
  }
  return impl_->parser.is_done() ? State::Complete : State::Body;
}

const HttpRequest& RequestReader::head() const noexcept {
  return impl_->head;
}

void RequestReader::limit_body(std::size_t most_bytes) {
  impl_->most_body_bytes = most_bytes;
  const auto said = impl_->parser.content_length();
  if ((said && *said > most_bytes) || body_bytes() > most_bytes) {
    throw BadRequest{413,
                     "body: expected at most " + std::to_string(most_bytes) + " bytes, found more"};
  }
}

std::size_t RequestReader::body_bytes() const noexcept {
  return impl_->parser.get().body().size();
}

bool RequestReader::wants_continue() const noexcept {
  return state() == State::Body && !impl_->head.is_http_1_0 && impl_->head.headers.find("Expect");
}

bool RequestReader::keep_alive() const noexcept {
  return impl_->parser.keep_alive();
}

HttpRequest RequestReader::take() {
  impl_->head.body = std::move(impl_->parser.get().body());
  return std::move(impl_->head);
}

}  // namespace smol::server
