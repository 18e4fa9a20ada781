#include "chat/stop_strings.h"

#include <string>

#include <gtest/gtest.h>

#include "base/error.h"

namespace smol::chat {
namespace {

struct Shown {
  std::string text;
  bool stopped = false;
  bool operator==(const Shown&) const = default;
};

Shown show(const std::vector<std::string>& stops, const std::vector<Piece>& pieces) {
  StopStrings strings(stops);
  Shown out;
  const auto add = [&](const std::vector<Piece>& shown) {
    for (const Piece& piece : shown) {
      out.text += piece.text;
    }
  };
  for (const Piece& piece : pieces) {
    add(strings.push(piece));
  }
  add(strings.flush());
  out.stopped = strings.stopped();
  return out;
}

// The same for every cut into two and byte by byte.
Shown show(const std::vector<std::string>& stops, const std::string& text) {
  const std::vector<Piece> whole{{text}};
  Shown out = show(stops, whole);
  std::vector<Piece> bytes;
  for (std::size_t cut = 0; cut < text.size(); ++cut) {
    bytes.push_back({text.substr(cut, 1)});
    const std::vector<Piece> two{{text.substr(0, cut)}, {text.substr(cut)}};
    EXPECT_EQ(show(stops, two), out) << text << " cut at " << cut;
  }
  EXPECT_EQ(show(stops, bytes), out) << text;
  return out;
}

TEST(StopStrings, StopAcrossTokensWithoutShowingAnyPart) {
  EXPECT_EQ(show({"STOP"}, "one STOP two"), (Shown{"one ", true}));
  EXPECT_EQ(show({"STOP"}, "one STO"), (Shown{"one STO", false}));
  EXPECT_EQ(show({"aab"}, "aaaab"), (Shown{"aa", true}));
}

TEST(StopStrings, TheFirstToBeCompleteCounts) {
  EXPECT_EQ(show({"bcd", "c"}, "abcd"), (Shown{"ab", true}));
  EXPECT_EQ(show({"c", "abc"}, "xabc"), (Shown{"x", true}));  // complete at once: the longest
  EXPECT_EQ(show({"abc", "c"}, "xabc"), (Shown{"x", true}));
}

TEST(StopStrings, HoldOnlyWhatCouldBeginOne) {
  StopStrings strings({"\nUser:"});
  const std::vector<Piece> expected{{"Hello"}};
  EXPECT_EQ(strings.push({"Hello\n"}), expected);
  const std::vector<Piece> released{{"\n"}, {"Us!"}};
  EXPECT_EQ(strings.push({"Us!"}), released);
}

TEST(StopStrings, ReachIntoTags) {
  const std::vector<Piece> pieces{{"a"}, {"</think>", true}, {"\nb"}};
  EXPECT_EQ(show({"</think>"}, pieces), (Shown{"a", true}));
  EXPECT_EQ(show({"think>\nb"}, pieces), (Shown{"a", true}));
  EXPECT_EQ(show({"think>\nc"}, pieces), (Shown{"a</think>\nb", false}));
}

TEST(StopStrings, ShowNothingAfterwards) {
  StopStrings strings({"x"});
  strings.push({"x"});
  EXPECT_TRUE(strings.stopped());
  EXPECT_TRUE(strings.push({"more"}).empty());
  EXPECT_TRUE(strings.flush().empty());
}

TEST(StopStrings, AreBounded) {
  EXPECT_THROW(StopStrings({""}), Error);
  EXPECT_THROW(StopStrings({std::string(StopStrings::kMaxBytes + 1, 'x')}), Error);
  EXPECT_THROW(StopStrings(std::vector<std::string>(StopStrings::kMaxCount + 1, "x")), Error);
}

}  // namespace
}  // namespace smol::chat
