#include "store/export.h"

#include "store/calendar.h"
#include "store/import.h"
#include "store/test_store.h"

namespace smol::store {
namespace {

const ImportDefaults kPlainDefaults{kStart, kDate, {}};

Answer rich_answer() {
  Answer answer;
  answer.state = AnswerState::Limit;
  answer.parts = {ThinkingPart{"hm ``` hm", 3, Milliseconds(12345)},
                  ToolPart{"call_1", "calculator", R"({"expression": "2+2"})", ToolState::Failed,
                           "no\nway", Milliseconds(7)},
                  ToolPart{"call_2", "time", "{}", ToolState::Denied, "", std::nullopt},
                  TextPart{"It is **4**. 😀 \"quoted\" \\ \x01"}};
  answer.figures = {31, Milliseconds(2000), 120, 100, Milliseconds(400)};
  answer.limit = 512;
  answer.error = {"text", "hint"};
  answer.written = {{{"<tool_call>", true}, {"{}", false}}, {}};
  return answer;
}

// A session with everything that one can have.
SessionId rich_session(TestStore& store) {
  Settings settings{false, "Be brief.", 0.1, 0.95, 0.0, 1.25, 40, 4294967295, 512, 0, true};
  const Turn first = store->begin_session(
      {settings, kDate}, {"Hello\nworld", {{"a.txt", "alpha\n```\n", 2}, {"b", "", 0}}, true});
  store->save(first.id, rich_answer());
  store.now += Milliseconds(1234);
  const Turn second = store->begin_regeneration(first.answer, false).value();
  store.finish(second, "other answer");
  store->add_note(first.session, {"Compacted", "a summary"});
  store.talk(first.session, "again", "and again");
  store->select(first.answer);
  store->rename(first.session, "A \"title\"");
  store->pin(first.session, true);
  store->archive(first.session, true);
  store->add_queued(first.session, says("queued"));
  return first.session;
}

TEST(Export, IsTheSameBytesAfterAnImport) {
  TestStore store;
  const SessionId plain = store.talk("plain", "simple").session;
  const SessionId rich = rich_session(store);
  const std::string text = to_json({store->transcript(rich), store->transcript(plain)});
  const Import import = read_export(text, kPlainDefaults);
  EXPECT_EQ(import.left_out, 0U);
  store.now += Milliseconds(999);
  const auto made = store->insert(import.transcripts);
  ASSERT_EQ(made.size(), 2U);
  EXPECT_NE(made[0], rich);
  EXPECT_EQ(to_json({store->transcript(made[0]), store->transcript(made[1])}), text);
  EXPECT_EQ(store.path_text(made[0]), store.path_text(rich));
  EXPECT_EQ(store->search("other answer", 10).total, 2U);
}

TEST(Export, OfAnEmptySessionCanBeImported) {
  TestStore store;
  const Turn turn = store.talk("a", "1");
  store->erase_message(*turn.question);
  const std::string text = to_json({store->transcript(turn.session)});
  const auto made = store->insert(read_export(text, kPlainDefaults).transcripts);
  EXPECT_EQ(to_json({store->transcript(made.at(0))}), text);
}

TEST(Export, LeavesOutWhatIsDeletedAndTheIds) {
  TestStore store;
  const Turn turn = store.talk("keep", "kept");
  const Turn gone = store.talk(turn.session, "geheimnis", "x");
  store->erase_message(*gone.question);
  const std::string text = to_json({store->transcript(turn.session)});
  EXPECT_EQ(text.find("geheimnis"), std::string::npos);
  EXPECT_EQ(text.find(turn.session), std::string::npos);
}

TEST(Export, CallsARunningAnswerInterrupted) {
  TestStore store;
  const Turn turn = store->begin_session({{}, kDate}, says("a"));
  const std::string text = to_json({store->transcript(turn.session)});
  EXPECT_NE(text.find("\"interrupted\""), std::string::npos);
  EXPECT_EQ(read_export(text, kPlainDefaults).transcripts.size(), 1U);
}

TEST(Export, OfARunningAnswerIsTheSameBytesAfterAnImport) {
  TestStore store;
  const Turn turn = store->begin_session({{}, kDate}, says("a"));
  Answer answer;
  answer.parts = {ToolPart{"c", "time", "{}", ToolState::Asking, "", std::nullopt}};
  store->save(turn.id, answer);
  const std::string text = to_json({store->transcript(turn.session)});
  const auto made = store->insert(read_export(text, kPlainDefaults).transcripts);
  EXPECT_EQ(to_json({store->transcript(made.at(0))}), text);
}

TEST(Export, AsMarkdownShowsTheActivePath) {
  TestStore store;
  const SessionId id = rich_session(store);
  EXPECT_EQ(to_markdown(store->transcript(id)),
            R"(# A "title"

2026-11-28

## System prompt

Be brief.

## You

**File a.txt**

````
alpha
```
````

**File b**

```

```

Hello
world

## Assistant

<details>
<summary>Thought for 12 s</summary>

````text
hm ``` hm
````

</details>

**Tool calculator**

```json
{"expression": "2+2"}
```

```text
no
way
```

**Tool time**

```json
{}
```

It is **4**. 😀 "quoted" \ )"
            "\x01\n");
}

TEST(Export, AsMarkdownShowsNotes) {
  TestStore store;
  const SessionId id = store.talk("a", "1").session;
  store->add_note(id, {"Forgotten"});
  store.talk(id, "b", "2");
  EXPECT_EQ(to_markdown(store->transcript(id)),
            "# a\n\n2026-11-28\n\n## You\n\na\n\n## Assistant\n\n1\n\n---\n\n*Forgotten*\n\n"
            "## You\n\nb\n\n## Assistant\n\n2\n");
}

TEST(Calendar, WritesAndReadsTimes) {
  EXPECT_EQ(time_text(kStart + Milliseconds(7)), "2026-11-28T13:00:00.007Z");
  EXPECT_EQ(parse_time("2026-11-28T13:00:00.007Z"), kStart + Milliseconds(7));
  EXPECT_EQ(time_text(Time(Milliseconds(-1))), "1969-12-31T23:59:59.999Z");
  EXPECT_EQ(parse_time("1969-12-31T23:59:59.999Z"), Time(Milliseconds(-1)));
  for (const char* text : {"", "2026-11-28", "2026-11-28T13:00:00Z", "2026-11-28T24:00:00.000Z",
                           "2026-02-30T00:00:00.000Z", "0000-01-01T00:00:00.000Z",
                           "2026-1a-28T13:00:00.000Z", "2026-11-28T13:00:00.000+"}) {
    EXPECT_EQ(parse_time(text), std::nullopt) << text;
  }
  EXPECT_EQ(parse_date("2024-02-29"), std::chrono::year{2024} / 2 / 29);
  EXPECT_EQ(parse_date("2025-02-29"), std::nullopt);
}

}  // namespace
}  // namespace smol::store
