#include "server/request_reader.h"

#include <cstddef>
#include <string>

#include <gtest/gtest.h>

namespace smol::server {
namespace {

constexpr std::size_t kHeaderBytes = 1024;

// Reads all, in pieces of this size; the unread rest comes again with the next piece.
HttpRequest read_in_pieces(const std::string& text, std::size_t size, std::size_t most = 1000) {
  RequestReader reader(kHeaderBytes);
  std::string unread;
  for (std::size_t at = 0; at < text.size() && reader.state() != RequestReader::State::Complete;
       at += size) {
    unread += text.substr(at, size);
    std::size_t used = 1;
    while (used != 0 && reader.state() != RequestReader::State::Complete) {
      const auto before = reader.state();
      used = reader.feed(unread);
      unread.erase(0, used);
      if (before == RequestReader::State::Head && reader.state() != before) {
        reader.limit_body(most);
        used = 1;
      }
    }
  }
  EXPECT_EQ(reader.state(), RequestReader::State::Complete);
  return reader.take();
}

int status_of(const std::string& text) {
  try {
    read_in_pieces(text, text.size());
  } catch (const BadRequest& error) {
    return error.status();
  }
  return 200;
}

TEST(RequestReader, ReadsHeadAndBodyHoweverTheyAreCut) {
  const std::string text =
      "POST /v1/x?a=b&c HTTP/1.1\r\nHost: localhost\r\nContent-Length: 11\r\n\r\nhello world";
  for (const std::size_t size : {1U, 2U, 7U, 1000U}) {
    const HttpRequest request = read_in_pieces(text, size);
    EXPECT_EQ(request.method, "POST");
    EXPECT_EQ(request.path, "/v1/x");
    EXPECT_EQ(request.query, "a=b&c");
    EXPECT_EQ(request.headers.find("host"), "localhost");
    EXPECT_EQ(request.body, "hello world");
  }
}

TEST(RequestReader, JoinsChunks) {
  const std::string text =
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
      "5\r\nhello\r\n1;x=y\r\n \r\n5\r\nworld\r\n0\r\n\r\n";
  for (const std::size_t size : {1U, 3U, 1000U}) {
    EXPECT_EQ(read_in_pieces(text, size).body, "hello world");
  }
}

TEST(RequestReader, ReadsAnEmptyBodyInChunksHoweverItIsCut) {
  const std::string text =
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
  for (std::size_t size = 1; size <= text.size(); ++size) {
    EXPECT_EQ(read_in_pieces(text, size).body, "") << size;
  }
}

TEST(RequestReader, ARequestWithoutBodyIsCompleteWithItsHead) {
  EXPECT_EQ(read_in_pieces("GET /health HTTP/1.1\r\nHost: a\r\n\r\n", 5).path, "/health");
}

TEST(RequestReader, PassesOverOneEmptyLineBeforeARequest) {
  const std::string text = "\r\nGET /health HTTP/1.1\r\nHost: a\r\n\r\n";
  for (const std::size_t size : {1U, 2U, 3U, 1000U}) {
    EXPECT_EQ(read_in_pieces(text, size).path, "/health");
  }
  EXPECT_EQ(status_of("\r\n" + text), 400);
  EXPECT_EQ(status_of("\rGET / HTTP/1.1\r\nHost: a\r\n\r\n"), 400);
}

TEST(RequestReader, LeavesWhatFollowsUnread) {
  RequestReader reader(kHeaderBytes);
  const std::string text = "GET / HTTP/1.1\r\nHost: a\r\n\r\nGET /2";
  EXPECT_EQ(reader.feed(text), text.size() - 6);
}

TEST(RequestReader, RefusesABodyThatIsTooLong) {
  EXPECT_EQ(status_of("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1001\r\n\r\n"), 413);
  EXPECT_EQ(
      status_of("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999999\r\n\r\n"),
      400);
  EXPECT_EQ(status_of("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n" +
                      std::string(1001, 'x') + "\r\n"),
            413);
}

TEST(RequestReader, RefusesAHeaderThatIsTooLong) {
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: " + std::string(2000, 'a') + "\r\n\r\n"), 431);
  EXPECT_EQ(status_of("GET /" + std::string(2000, 'a')), 431);
}

TEST(RequestReader, RefusesAmbiguousLengths) {
  EXPECT_EQ(status_of("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: "
                      "chunked\r\n\r\n0\r\n\r\n"),
            400);
  EXPECT_EQ(status_of("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: "
                      "4\r\n\r\nabc"),
            400);
  EXPECT_EQ(status_of("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n"), 400);
}

TEST(RequestReader, RefusesOtherCodings) {
  EXPECT_EQ(status_of("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"),
            501);
  EXPECT_EQ(status_of("POST / HTTP/1.1\r\nHost: a\r\nContent-Encoding: gzip\r\nContent-Length: "
                      "1\r\n\r\nx"),
            415);
  EXPECT_EQ(status_of("POST / HTTP/1.1\r\nHost: a\r\nExpect: magic\r\nContent-Length: 1\r\n\r\nx"),
            417);
}

TEST(RequestReader, RefusesWhatIsNoHttp) {
  EXPECT_EQ(status_of("hello\r\n\r\n"), 400);
  EXPECT_EQ(status_of("\x16\x03\x01\x02 TLS"), 400);
  EXPECT_EQ(status_of("GET / HTTP/3.0\r\n\r\n"), 505);
  EXPECT_EQ(status_of("GET http://evil.example/ HTTP/1.1\r\nHost: a\r\n\r\n"), 400);
  EXPECT_EQ(status_of("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
            400);
}

TEST(RequestReader, RefusesAChunkSizeLineWithoutEnd) {
  EXPECT_EQ(status_of("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;" +
                      std::string(100000, 'x')),
            400);
}

TEST(RequestReader, SaysWhetherTheClientWaitsForContinue) {
  RequestReader reader(kHeaderBytes);
  reader.feed("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n");
  EXPECT_TRUE(reader.wants_continue());
}

}  // namespace
}  // namespace smol::server
