#include "server/access.h"

#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "base/error.h"

namespace smol::server {
namespace {

HttpRequest head(std::initializer_list<HeaderField> fields) {
  HttpRequest out;
  out.method = "GET";
  out.path = "/v1/models";
  out.headers = fields;
  return out;
}

int status_of(const std::optional<HttpResponse>& response) {
  return response ? response->status : 0;
}

int site(std::initializer_list<HeaderField> fields, const AccessRules& rules = {}) {
  return status_of(refuse_site(head(fields), rules));
}

TEST(Access, NamesOfThisMachineAreAllowedWithAnyPort) {
  for (const char* host : {"localhost", "LOCALHOST:3000", "127.0.0.1:1", "[::1]", "[::1]:3000"}) {
    EXPECT_EQ(site({{"Host", host}}), 0) << host;
  }
}

TEST(Access, OtherHostsAreRefused) {
  for (const char* host :
       {"evil.example", "127.0.0.1.evil.example", "localhost.evil.example:3000", "127.0.0.2", "",
        "localhost:99999", "localhost:x", "[::1", "localhost@evil.example", "127.0.0.1 "}) {
    EXPECT_EQ(site({{"Host", host}}), 403) << host;
  }
}

TEST(Access, AnAllowedHostIsAllowed) {
  EXPECT_EQ(site({{"Host", "box.lan:3000"}}, {.hosts = {"Box.lan"}}), 0);
}

TEST(Access, ExactlyOneHostIsNeeded) {
  EXPECT_EQ(site({}), 400);
  EXPECT_EQ(site({{"Host", "localhost"}, {"host", "localhost"}}), 400);
}

TEST(Access, NoOriginIsAllowed) {
  EXPECT_EQ(site({{"Host", "localhost:3000"}}), 0);
}

TEST(Access, TheServersOwnOriginIsAllowed) {
  EXPECT_EQ(site({{"Host", "localhost:3000"}, {"Origin", "http://localhost:3000"}}), 0);
  EXPECT_EQ(site({{"Host", "localhost"}, {"Origin", "http://localhost:80"}}), 0);
  EXPECT_EQ(site({{"Host", "localhost"}, {"Origin", "https://localhost"}}), 0);
}

TEST(Access, OtherOriginsAreRefused) {
  for (const char* origin :
       {"http://evil.example", "http://localhost:3001", "http://127.0.0.1:3000", "null", "",
        "file://", "http://localhost:3000.evil.example", "ftp://localhost:3000"}) {
    EXPECT_EQ(site({{"Host", "localhost:3000"}, {"Origin", origin}}), 403) << origin;
  }
}

TEST(Access, ASecondOriginIsLookedAtToo) {
  EXPECT_EQ(site({{"Host", "localhost:3000"},
                  {"Origin", "http://localhost:3000"},
                  {"Origin", "http://evil.example"}}),
            403);
}

TEST(Access, AFormWithoutAnOriginIsTakenAtTheDoorAlone) {
  HttpRequest asked = head({{"Host", "localhost:3000"}, {"Origin", "null"}});
  EXPECT_EQ(status_of(refuse_site(asked, {})), 403);
  asked.path = "/login";
  EXPECT_EQ(status_of(refuse_site(asked, {})), 403);
  asked.method = "POST";
  EXPECT_EQ(status_of(refuse_site(asked, {})), 0);
  Headers answer;
  add_safety_headers(asked, answer);
  EXPECT_FALSE(answer.find("Access-Control-Allow-Origin"));
  asked.path = "/api/chat";
  EXPECT_EQ(status_of(refuse_site(asked, {})), 403);
}

TEST(Access, AnAllowedOriginMayReadTheAnswer) {
  const AccessRules rules{.origins = {"https://app.example"}};
  const HttpRequest asked = head({{"Host", "localhost:3000"}, {"Origin", "https://app.example"}});
  EXPECT_EQ(status_of(refuse_site(asked, rules)), 0);
  Headers headers;
  add_safety_headers(asked, headers);
  EXPECT_EQ(headers.find("Access-Control-Allow-Origin"), "https://app.example");
}

TEST(Access, EveryAnswerCarriesTheSafetyHeaders) {
  Headers headers;
  add_safety_headers(head({{"Host", "localhost"}}), headers);
  EXPECT_EQ(headers.find("X-Content-Type-Options"), "nosniff");
  EXPECT_EQ(headers.find("Referrer-Policy"), "no-referrer");
  EXPECT_EQ(headers.find("Cross-Origin-Opener-Policy"), "same-origin");
  EXPECT_FALSE(headers.find("Access-Control-Allow-Origin"));
}

TEST(Access, APreflightNamesMethodsAndHeaders) {
  HttpRequest asked = head({{"Host", "localhost"},
                            {"Origin", "http://localhost"},
                            {"Access-Control-Request-Method", "POST"},
                            {"Access-Control-Request-Headers", "authorization, x-stainless-os"}});
  asked.method = "OPTIONS";
  const auto answer = preflight(asked, "POST");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 204);
  EXPECT_EQ(answer->headers.find("Access-Control-Allow-Methods"), "POST");
  EXPECT_EQ(answer->headers.find("Access-Control-Allow-Headers"), "authorization, x-stainless-os");
}

int key(const std::string& authorization) {
  return status_of(
      refuse_key(head({{"Authorization", authorization}}), {.api_keys = {"one", "two"}}));
}

TEST(Access, OneOfTheKeysIsNeeded) {
  EXPECT_EQ(key("Bearer one"), 0);
  EXPECT_EQ(key("bearer two"), 0);
  for (const char* wrong : {"Bearer on", "Bearer onee", "Bearer ", "Bearer", "one", "Basic one", "",
                            "Bearer one two"}) {
    EXPECT_EQ(key(wrong), 401) << wrong;
  }
}

TEST(Access, WithoutKeysAnyAuthorizationIsIgnored) {
  EXPECT_EQ(status_of(refuse_key(head({{"Authorization", "Bearer x"}}), {})), 0);
}

TEST(Access, AnOriginFlagIsAnOrigin) {
  EXPECT_EQ(checked_origin("--allow-origin", "HTTPS://App.example:8443"),
            "https://app.example:8443");
  for (const char* wrong : {"*", "app.example", "https://", "https://a/b", "https://a:b"}) {
    EXPECT_THROW(checked_origin("--allow-origin", wrong), Error) << wrong;
  }
}

}  // namespace
}  // namespace smol::server
