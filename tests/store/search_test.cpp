#include "store/fold.h"
#include "store/test_store.h"

namespace smol::store {
namespace {

std::vector<MessageId> found(TestStore& store, std::string_view query) {
  const auto hits = store->search(query, 100).hits;
  std::vector<MessageId> ids;
  ids.reserve(hits.size());
  for (const SearchHit& hit : hits) {
    ids.push_back(hit.message.value_or(0));
  }
  return ids;
}

TEST(Search, FindsPartsOfWordsWithoutRegardToCase) {
  TestStore store;
  const Turn turn = store.talk("x", "An Unbelievable story, ÄRGERLICH and Привет.");
  EXPECT_EQ(found(store, "believ"), std::vector{turn.answer});
  EXPECT_EQ(found(store, "UNBELIEVABLE"), std::vector{turn.answer});
  EXPECT_EQ(found(store, "ärgerl"), std::vector{turn.answer});
  EXPECT_EQ(found(store, "привет"), std::vector{turn.answer});
  EXPECT_TRUE(found(store, "believer").empty());
}

TEST(Search, FindsChineseJapaneseAndKoreanByOneCharacterAndMore) {
  TestStore store;
  const Turn turn = store.talk("日本語の質問", "대한민국의 수도는 서울입니다. 北京是中国的首都。");
  EXPECT_EQ(found(store, "北京"), std::vector{turn.answer});
  EXPECT_EQ(found(store, "都"), std::vector{turn.answer});
  EXPECT_EQ(found(store, "서울"), std::vector{turn.answer});
  EXPECT_EQ(found(store, "中国的首都"), std::vector{turn.answer});
  EXPECT_TRUE(found(store, "東京").empty());
  // The title is the question's first line.
  EXPECT_EQ(found(store, "日本"), (std::vector<MessageId>{0, *turn.question}));
}

TEST(Search, WantsAllWordsInOneMessage) {
  TestStore store;
  const Turn turn = store.talk("x", "red green blue");
  store.talk("y", "red only");
  EXPECT_EQ(found(store, "blue red"), std::vector{turn.answer});
  EXPECT_EQ(found(store, "re bl"), std::vector{turn.answer});
  EXPECT_EQ(found(store, "green bl"), std::vector{turn.answer});
  EXPECT_TRUE(found(store, "green yellow").empty());
}

TEST(Search, TakesEveryQueryAsText) {
  TestStore store;
  const Turn turn = store.talk("x", "say \"AND\" (NOT) text: a*b % _ ^ -q");
  for (const char* query : {"\"AND\"", "(NOT)", "text:", "a*b", "% _", "-q", "\"", "NOT", "^"}) {
    EXPECT_EQ(found(store, query), std::vector{turn.answer}) << query;
  }
  EXPECT_TRUE(found(store, "text:x OR say").empty());
  EXPECT_TRUE(found(store, " \n\t ").empty());
  EXPECT_TRUE(found(store, "").empty());
}

TEST(Search, FindsAllWordsOfAnAnswerThatWentOn) {
  TestStore store;
  const Turn turn = store.talk("x", "the beginning");
  store.finish(store->begin_continuation(turn.answer).value(), "the beginning and the rest");
  EXPECT_EQ(found(store, "beginning"), std::vector{turn.answer});
  EXPECT_EQ(found(store, "rest"), std::vector{turn.answer});
  store.finish(store->begin_continuation(turn.answer).value(), "nothing of it");
  EXPECT_TRUE(found(store, "beginning").empty());
}

TEST(Search, TakesANulForABlank) {
  TestStore store;
  const Turn turn = store.talk("x", "first and last");
  EXPECT_EQ(found(store, std::string_view("first\0last", 10)), std::vector{turn.answer});
  EXPECT_TRUE(found(store, std::string_view("\0", 1)).empty());
}

TEST(Search, FindsTitlesAndAttachmentsButNoThoughtsAndNoToolResults) {
  TestStore store;
  const Turn turn =
      store->begin_session({{}, kDate}, {"question", {{"n.txt", "attached words", 2}}, true});
  Answer answer;
  answer.state = AnswerState::Done;
  answer.parts = {ThinkingPart{"pondering", 1, Milliseconds(1)}, TextPart{"written"},
                  ToolPart{"c", "t", "{}", ToolState::Done, "tooling", std::nullopt}};
  store->save(turn.id, answer);
  store->rename(turn.session, "Wonderful title");
  EXPECT_EQ(found(store, "attached"), std::vector{*turn.question});
  EXPECT_EQ(found(store, "written"), std::vector{turn.answer});
  EXPECT_EQ(found(store, "wonderful"), std::vector<MessageId>{0});
  EXPECT_TRUE(found(store, "pondering").empty());
  EXPECT_TRUE(found(store, "tooling").empty());
}

TEST(Search, ShowsThePlaceInOneLine) {
  TestStore store;
  const std::string filler(100, '.');
  store.talk("x", filler + "\nthe Needle\nhere" + filler);
  const SearchResult result = store->search("needle", 10);
  ASSERT_EQ(result.hits.size(), 1U);
  const SearchHit& hit = result.hits[0];
  EXPECT_EQ(hit.before, "…" + std::string(35, '.') + " the ");
  EXPECT_EQ(hit.match, "Needle");
  EXPECT_EQ(hit.after, " here" + std::string(75, '.') + "…");
}

TEST(Search, CutsAPlaceBetweenCharacters) {
  TestStore store;
  std::string text;
  for (int i = 0; i < 100; ++i) {
    text += "語";
  }
  store.talk("x", text + "針" + text);
  const SearchHit hit = store->search("針", 10).hits.at(0);
  EXPECT_EQ(hit.match, "針");
  EXPECT_EQ(hit.before.size(), std::string("…").size() + std::size_t{40} * 3);
  EXPECT_EQ(hit.after.size(), std::string("…").size() + std::size_t{80} * 3);
}

TEST(Search, CountsWhatTheLimitLeavesOut) {
  TestStore store;
  const SessionId id = store.talk("word", "word").session;
  for (int i = 0; i < 9; ++i) {
    store.talk(id, "word", "w");
  }
  store->rename(id, "another");
  const SearchResult result = store->search("word", 3);
  EXPECT_EQ(result.hits.size(), 3U);
  EXPECT_EQ(result.total, 11U);
  EXPECT_GT(result.hits[0].message.value(), result.hits[1].message.value());
  EXPECT_EQ(store->search("w", 3).total, 20U);
}

TEST(Search, DoesNotFindWhatIsStillBeingWritten) {
  TestStore store;
  const Turn turn = store->begin_session({{}, kDate}, says("x"));
  Answer answer;
  answer.parts.emplace_back(TextPart{"half a word"});
  store->save(turn.id, answer);
  EXPECT_TRUE(found(store, "half").empty());
  answer.state = AnswerState::Stopped;
  store->save(turn.id, answer);
  EXPECT_EQ(found(store, "half"), std::vector{turn.answer});
}

TEST(Fold, ComparesCharactersWithoutCase) {
  EXPECT_EQ(folded("ÀÉÎ ΣΔ ЖЯ abC 語"), "àéî σδ жя abc 語");
  const auto span = find_folded("xx ΣΔ", "σδ");
  ASSERT_TRUE(span.has_value());
  EXPECT_EQ(span->begin, 3U);
  EXPECT_EQ(span->end, 7U);
  EXPECT_FALSE(find_folded("aab", "abb").has_value());
  EXPECT_TRUE(find_folded("aab", "ab").has_value());
}

}  // namespace
}  // namespace smol::store
