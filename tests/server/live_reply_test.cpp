#include "server/live_reply.h"

#include <memory>

#include <gtest/gtest.h>

#include "server/sse.h"

namespace smol::server {
namespace {

TEST(LiveReply, GivesWhatHasComeSinceTheLastTake) {
  LiveReply reply;
  reply.begin({});
  reply.append("a");
  reply.append("b");
  EXPECT_EQ(reply.take().bytes, "ab");
  EXPECT_EQ(reply.take().bytes, "");
  reply.append("c");
  reply.finish();
  const auto last = reply.take();
  EXPECT_EQ(last.bytes, "c");
  EXPECT_TRUE(last.finished);
}

TEST(LiveReply, KeepsWhatComesBeforeItsHead) {
  LiveReply reply;
  reply.append("early");
  EXPECT_EQ(reply.take().bytes, "");
  reply.begin({});
  EXPECT_EQ(reply.take().bytes, "early");
}

TEST(LiveReply, TellsOnceUntilItIsTaken) {
  LiveReply reply;
  int told = 0;
  reply.begin({});
  reply.set_listener([&told] { ++told; });
  EXPECT_EQ(told, 1);
  reply.append("a");
  EXPECT_EQ(told, 1);
  reply.take();
  reply.append("b");
  EXPECT_EQ(told, 2);
}

TEST(LiveReply, TakesNothingOnceTheReaderHasGone) {
  LiveReply reply;
  int cancelled = 0;
  reply.set_cancel_action([&cancelled] { ++cancelled; });
  reply.begin({});
  EXPECT_TRUE(reply.append("a"));
  reply.abandon();
  reply.abandon();
  EXPECT_EQ(cancelled, 1);
  EXPECT_FALSE(reply.append("b"));
  EXPECT_EQ(reply.take().bytes, "");
}

TEST(LiveReply, SaysHowCancelledWorkEnds) {
  LiveReply reply;
  reply.set_cancel_action([&reply] { reply.respond({.status = 503}); });
  reply.cancel();
  EXPECT_EQ(reply.take().whole->status, 503);
}

TEST(Sse, EachLineOfDataIsALine) {
  EXPECT_EQ(to_text({.data = "a\nb\r\nc\rd"}), "data: a\ndata: b\ndata: c\ndata: d\n\n");
  EXPECT_EQ(to_text({.data = ""}), "data: \n\n");
}

TEST(Sse, EventsHaveNamesAndIds) {
  EXPECT_EQ(to_text({.data = "{}", .name = "delta", .id = "7.12"}),
            "id: 7.12\nevent: delta\ndata: {}\n\n");
}

TEST(Sse, APagesHeartbeatIsAnEvent) {
  const auto reply = std::make_shared<LiveReply>();
  SseStream stream(reply, SseHeartbeat::Ping);
  stream.open();
  const auto news = reply->take();
  EXPECT_EQ(news.streamed->heartbeat, "event: ping\ndata: {}\n\n");
  EXPECT_EQ(news.streamed->headers.find("X-Accel-Buffering"), "no");
}

}  // namespace
}  // namespace smol::server
