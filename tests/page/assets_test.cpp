#include "page/assets.h"

#include <array>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "page/form.h"

namespace smol::page {
namespace {

using ::testing::HasSubstr;

server::HttpRequest request(const std::string& query, const std::string& name = "Accept",
                            const std::string& value = "*/*") {
  server::HttpRequest out;
  out.query = query;
  out.headers.add(name, value);
  return out;
}

TEST(Assets, AreServedWithTypeAndTag) {
  const Assets assets(web_files());
  const auto script = assets.get("app.js", request(""));
  EXPECT_EQ(script.status, 200);
  EXPECT_EQ(script.headers.find("Content-Type"), "text/javascript; charset=utf-8");
  EXPECT_EQ(script.headers.find("Cache-Control"), "no-cache");
  EXPECT_THAT(script.body, HasSubstr("use strict"));
  const std::string tag(script.headers.find("ETag").value_or(""));
  const auto again = assets.get("app.js", request("", "If-None-Match", tag));
  EXPECT_EQ(again.status, 304);
  EXPECT_EQ(again.body, "");
  EXPECT_EQ(assets.get("../templates/pages/chat.html.jinja", request("")).status, 404);
  EXPECT_EQ(
      assets.get("vendor/fonts/KaTeX_Main-Regular.woff2", request("")).headers.find("Content-Type"),
      "font/woff2");
}

TEST(Assets, AreKeptForGoodUnderTheirVersion) {
  const Assets assets(web_files());
  const auto kept = assets.get("app.css", request("v=" + assets.version()));
  EXPECT_THAT(std::string(kept.headers.find("Cache-Control").value_or("")), HasSubstr("immutable"));
  const std::array<WebFile, 1> before{{{"static/a.css", "a"}}}, after{{{"static/a.css", "b"}}};
  EXPECT_NE(Assets(before).version(), Assets(after).version());
}

TEST(Assets, ArePackedForThoseWhoTakeIt) {
  const Assets assets(web_files());
  const auto packed = assets.get("app.js", request("", "Accept-Encoding", "br, gzip"));
  EXPECT_EQ(packed.headers.find("Content-Encoding"), "gzip");
  EXPECT_EQ(packed.body.substr(0, 2), "\x1f\x8b");
  EXPECT_LT(packed.body.size(), assets.get("app.js", request("")).body.size() / 2);
  EXPECT_EQ(assets.get("app.js", request("", "Accept-Encoding", "gzip;q=0"))
                .headers.find("Content-Encoding"),
            std::nullopt);
}

server::HttpRequest form(const std::string& type, const std::string& body) {
  server::HttpRequest out = request("session_id=1&a=%C3%A4+b", "Content-Type", type);
  out.body = body;
  return out;
}

TEST(Form, ReadsQueryAndUrlencodedBody) {
  const Form fields(form("application/x-www-form-urlencoded", "think=off&think=on&empty="));
  EXPECT_EQ(fields.text("a"), "ä b");
  EXPECT_TRUE(fields.flag("think"));
  EXPECT_EQ(fields.all("think").size(), 2U);
  EXPECT_TRUE(fields.has("empty"));
  EXPECT_FALSE(fields.has("none"));
}

TEST(Form, ReadsPartsAndJson) {
  const Form parts(form("multipart/form-data; boundary=\"b\"",
                        "--b\r\nContent-Disposition: form-data; name=\"f\"\r\n\r\nx\r\ny\r\n--b\r\n"
                        "Content-Disposition: form-data; name=\"g\"\r\n\r\n\r\n--b--\r\n"));
  EXPECT_EQ(parts.text("f"), "x\r\ny");
  EXPECT_TRUE(parts.has("g"));
  const Form json(form("application/json", R"({"temperature": 0.5, "on": true, "no": null})"));
  EXPECT_EQ(json.number("temperature"), 0.5);
  EXPECT_TRUE(json.flag("on"));
  EXPECT_FALSE(json.has("no"));
}

TEST(Form, RefusesWhatIsBroken) {
  EXPECT_THROW(Form(form("application/x-www-form-urlencoded", "a=%ff")), Error);
  EXPECT_THROW(Form(form("application/x-www-form-urlencoded", "a=%4")), Error);
  EXPECT_THROW(Form(form("multipart/form-data", "--b\r\n")), Error);
  EXPECT_THROW(Form(form("application/json", "[1]")), Error);
  const Form fields(form("application/x-www-form-urlencoded", "id=-3&number=nan&think=maybe"));
  EXPECT_THROW(fields.flag("think"), Error);
  EXPECT_THROW(fields.id("id"), Error);
  EXPECT_THROW(fields.number("number"), Error);
}

TEST(Cookies, AreFoundByTheirWholeName) {
  const auto asked = request("", "Cookie", "mytheme=a; theme=dark;sidebar=closed");
  EXPECT_EQ(cookie_of(asked, "theme"), "dark");
  EXPECT_EQ(cookie_of(asked, "sidebar"), "closed");
  EXPECT_EQ(cookie_of(asked, "none"), "");
}

}  // namespace
}  // namespace smol::page
