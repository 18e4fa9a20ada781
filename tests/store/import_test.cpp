// Exports of others, and files that mean harm. The examples are our own.
#include "store/import.h"

#include <zlib.h>

#include "store/export.h"
#include "store/test_store.h"

namespace smol::store {
namespace {

const ImportDefaults kDefaults{
    kStart, kDate, [](std::string_view text) { return static_cast<std::int64_t>(text.size()); }};

Transcript only(std::string_view text) {
  const Import import = read_export(text, kDefaults);
  EXPECT_EQ(import.transcripts.size(), 1U);
  return import.transcripts.at(0);
}

// "user: hello | assistant: (thought) [tool {}=result] text" along the active path.
std::string outline(const Transcript& transcript) {
  std::string out;
  for (const std::size_t index : active_path(transcript)) {
    const Message& message = transcript.entries[index].message;
    out += (out.empty() ? "" : " | ") + message.text;
    for (const Part& part : message.answer.parts) {
      if (const auto* thinking = std::get_if<ThinkingPart>(&part)) {
        out += "(" + thinking->text + ")";
      } else if (const auto* tool = std::get_if<ToolPart>(&part)) {
        out += "[" + tool->name + " " + tool->arguments + "=" + tool->result + "]";
      } else {
        out += std::get<TextPart>(part).text;
      }
    }
  }
  return out;
}

std::string refusal(std::string_view text, const ImportLimits& limits = {}) {
  return message_of([&] { read_export(text, kDefaults, limits); });
}

constexpr std::string_view kLines =
    R"({"harness":"llama.app","type":"session","id":"c1","name":"Lisbon","lastModified":1764336000000,"currNode":"m5"}
{"type":"message","message":{"id":"r","convId":"c1","type":"root","timestamp":1764335000000,"role":"system","content":"","parent":null,"children":["s"]}}
{"type":"message","message":{"id":"s","convId":"c1","type":"system","timestamp":1764335000000,"role":"system","content":"Be kind.","parent":"r","children":["m1"]}}
{"type":"message","message":{"id":"m1","type":"text","timestamp":1764335100000,"role":"user","content":"What is 2+2?","parent":"s","children":["m2"],"extra":[{"type":"TEXT","name":"a.txt","content":"alpha"},{"type":"IMAGE","name":"b.png","base64Url":"data:"}]}}
{"type":"message","message":{"id":"m2","type":"text","timestamp":1764335200000,"role":"assistant","content":"","parent":"m1","children":["m3"],"reasoningContent":"I need a tool","toolCalls":[{"id":"k1","type":"function","function":{"name":"sum","arguments":"{\"a\":2}"}}],"timings":{"predicted_n":10,"predicted_ms":499.6}}}
{"type":"message","message":{"id":"m3","type":"text","timestamp":1764335300000,"role":"tool","content":"4","parent":"m2","children":["m4","m5"],"toolCallId":"k1"}}

{"type":"message","message":{"id":"m4","type":"text","timestamp":1764335400000,"role":"assistant","content":"Four.","parent":"m3","children":[],"timings":{"predicted_n":2,"predicted_ms":100}}}
{"type":"message","message":{"id":"m5","type":"text","timestamp":1764335500000,"role":"assistant","content":"It is 4.","parent":"m3","children":[]}}
{"type":"later","message":{}}
)";

TEST(ImportLlama, ReadsJsonLinesAndJoinsTheRoundsOfAnAnswer) {
  const Import import = read_export(kLines, kDefaults);
  ASSERT_EQ(import.transcripts.size(), 1U);
  EXPECT_EQ(import.left_out, 1U);
  const Transcript& transcript = import.transcripts[0];
  EXPECT_EQ(transcript.session.title, "Lisbon");
  EXPECT_EQ(transcript.session.settings.system, "Be kind.");
  EXPECT_EQ(transcript.session.updated_at, Time(Milliseconds(1764336000000)));
  EXPECT_EQ(transcript.session.created_at, Time(Milliseconds(1764335100000)));
  EXPECT_EQ(outline(transcript), "What is 2+2? | (I need a tool)[sum {\"a\":2}=4]It is 4.");
  ASSERT_EQ(transcript.entries.size(), 3U);
  const Message& question = transcript.entries[0].message;
  ASSERT_EQ(question.attachments.size(), 1U);
  EXPECT_EQ(question.attachments[0], (Attachment{"a.txt", "alpha", 5}));
  EXPECT_EQ(transcript.entries[1].message.answer.figures.tokens, 12);
  EXPECT_EQ(transcript.entries[2].message.answer.figures.tokens, 10);
  EXPECT_EQ(transcript.entries[1].message.answer.figures.time, Milliseconds(600));
}

TEST(ImportLlama, ReadsTheListOfEarlierVersions) {
  const Transcript transcript = only(R"([{"conv": {"id": "c", "name": "", "currNode": null},
    "messages": [
      {"id": "b", "role": "assistant", "content": "Hi", "parent": "a", "thinking": "hm",
       "toolCalls": "[{\"id\":\"x\",\"function\":{\"name\":\"f\",\"arguments\":{}}}]"},
      {"id": "a", "role": "user", "content": "Hello", "parent": "gone"}]}])");
  EXPECT_EQ(transcript.session.title, "Imported conversation");
  EXPECT_EQ(outline(transcript), "Hello | (hm)Hi[f {}=]");
  EXPECT_EQ(only(R"({"conv": {"name": "x"}, "messages": []})").session.title, "x");
}

TEST(ImportLlama, NamesTheFieldThatIsWrong) {
  const std::string session = R"({"type":"session","name":"x"})";
  EXPECT_EQ(refusal(session + "\n" +
                    R"({"type":"message","message":{"id":"a","role":"user","content":7}})"),
            "line 2.message.content: expected a string, found number");
  EXPECT_EQ(refusal(session + "\n" + R"({"type":"message","message":{"id":"a","role":"king"}})"),
            "line 2.message.role: expected one of system, user, assistant, tool, found \"king\"");
  EXPECT_EQ(refusal(session + "\n" + R"({"type":"message","message":{"id":"a","role":"tool"}})"),
            "line 2.message: expected an answer above a tool's result, found none");
  EXPECT_EQ(refusal(R"([{"conv": {}, "messages": [{"id": "a", "role": "user", "parent": "b"},
                                                 {"id": "b", "role": "user", "parent": "a"}]}])"),
            "[0].messages[0]: expected a tree of messages, found one that is its own parent");
  EXPECT_EQ(refusal(R"([{"conv": {}, "messages": [{"id": "a", "role": "user"},
                                                 {"id": "a", "role": "user"}]}])"),
            "[0].messages[1]: expected an id of its own, found \"a\" for the second time");
}

constexpr std::string_view kOpenWebui =
    R"([{"id": "1", "user_id": "u", "title": "Row", "pinned": true,
  "archived": false, "created_at": 1764335000, "updated_at": 1764336000, "meta": {},
  "chat": {"title": "Chat", "models": ["m"], "params": {"system": "Be kind."},
    "history": {"currentId": "d", "messages": {
      "a": {"id": "a", "parentId": null, "childrenIds": ["b"], "role": "user", "content": "Hello",
            "timestamp": 1764335100, "models": ["m"],
            "files": [{"type": "file", "name": "n.txt", "file": {"filename": "f", "data": {"content": "abc"}}},
                      {"type": "image", "url": "data:"}]},
      "b": {"id": "b", "parentId": "a", "childrenIds": [], "role": "assistant", "done": true,
            "content": "", "output": [
              {"type": "reasoning", "summary": [], "content": [{"type": "output_text", "text": "hm"}], "duration": 2},
              {"type": "function_call", "call_id": "k", "name": "f", "arguments": "{\"x\": 1}", "status": "completed"},
              {"type": "function_call_output", "call_id": "k", "output": [{"type": "input_text", "text": "one"}]},
              {"type": "open_webui:status"},
              {"type": "message", "content": [{"type": "output_text", "text": "Hi"}, {"type": "output_text", "text": "!"}]}],
            "usage": {"completion_tokens": 9, "prompt_tokens": 20}},
      "c": {"id": "c", "parentId": "b", "role": "user", "content": [{"type": "text", "text": "Old?"}]},
      "d": {"id": "d", "parentId": "c", "role": "assistant", "error": {"content": "No model"},
            "content": "<details type=\"reasoning\" done=\"true\" duration=\"3\">\n<summary>Thought for 3 seconds</summary>\n> a &lt; b\n> \n> so\n</details>\n\nYes <details><summary>x</summary>y</details>\n<details type=\"tool_calls\" done=\"true\" id=\"t\" name=\"g\" arguments=\"{&quot;y&quot;: 2}\" result=\"two\">\n<summary>Tool Executed</summary>\n</details>\nend"}}}}}])";

TEST(ImportOpenWebui, ReadsTreeOutputsAndOldDetails) {
  const Import import = read_export(kOpenWebui, kDefaults);
  ASSERT_EQ(import.transcripts.size(), 1U);
  EXPECT_EQ(import.left_out, 1U);
  const Transcript& transcript = import.transcripts[0];
  EXPECT_EQ(transcript.session.title, "Chat");
  EXPECT_TRUE(transcript.session.pinned);
  EXPECT_EQ(transcript.session.settings.system, "Be kind.");
  EXPECT_EQ(transcript.session.updated_at, Time(std::chrono::seconds(1764336000)));
  EXPECT_EQ(outline(transcript),
            "Hello | (hm)[f {\"x\": 1}=one]Hi! | Old? | (a < b\n\nso)Yes "
            "<details><summary>x</summary>y</details>[g {\"y\": 2}=two]end");
  EXPECT_EQ(transcript.entries[0].message.attachments.at(0), (Attachment{"n.txt", "abc", 3}));
  EXPECT_EQ(transcript.entries[1].message.answer.figures.tokens, 9);
  EXPECT_EQ(std::get<ThinkingPart>(transcript.entries[1].message.answer.parts[0]).time,
            Milliseconds(2000));
  EXPECT_EQ(transcript.entries[3].message.answer.state, AnswerState::Error);
  EXPECT_EQ(transcript.entries[3].message.answer.error.text, "No model");
}

TEST(ImportOpenWebui, ReadsChatsWithoutRowAndWithoutTree) {
  EXPECT_EQ(outline(only(R"([{"title": "t", "history": {"messages":
              {"a": {"role": "user", "content": "x"}}}}])")),
            "x");
  EXPECT_EQ(outline(only(R"({"chat": {"messages": [{"role": "user", "content": "x"},
              {"role": "assistant", "content": "y", "done": false}]}})")),
            "x | y");
}

TEST(ImportOpenWebui, NamesTheFieldThatIsWrong) {
  EXPECT_EQ(
      refusal(R"([{"chat": {"history": {"messages": {"a": {"role": "user", "content": 1}}}}}])"),
      "[0].chat.history.messages.a.content: expected a string, found number");
  EXPECT_EQ(refusal(R"([{"chat": {}}])"), "[0].chat.messages: expected a value, found none");
  EXPECT_EQ(refusal(R"([{"chat": 5}])"), "[0].chat: expected an object, found number");
}

TEST(Import, RefusesWhatNobodyExports) {
  EXPECT_NE(refusal("").find("file: "), std::string::npos);
  EXPECT_NE(refusal("{").find("file: "), std::string::npos);
  EXPECT_EQ(refusal("[{\"a\": 1}]"),
            "[0]: expected a session as smolbot, llama-server or Open WebUI export it, found "
            "something else");
  EXPECT_EQ(refusal("7"),
            "file: expected a session as smolbot, llama-server or Open WebUI export it, found "
            "number");
  EXPECT_TRUE(read_export("[]", kDefaults).transcripts.empty());
}

std::string own(std::string_view message, std::string_view more = "") {
  return R"({"format": "smolbot", "version": 1, "sessions": [{"title": "t", "title_origin": "person",
    "created": "2026-11-28T13:00:00.000Z", "updated": "2026-11-28T13:00:00.000Z",
    "date": "2026-11-28", "settings": {"think": true}, "messages": [)" +
         std::string(message) + "]" + std::string(more) + "}]}";
}

constexpr std::string_view kUser =
    R"({"role": "user", "created": "2026-11-28T13:00:00.000Z", "text": "x")";

TEST(ImportOwn, NamesTheFieldThatIsWrong) {
  const std::string user(kUser);
  EXPECT_EQ(only(own(user + "}")).entries.size(), 1U);
  EXPECT_EQ(refusal(own(user + R"(, "parent": 0})")),
            "sessions[0].messages[0].parent: expected the index of one of 0 messages before it, "
            "found 0");
  EXPECT_EQ(refusal(own(user + R"(, "parent": -1})")),
            "sessions[0].messages[0].parent: expected a whole number from 0 to 9007199254740992, "
            "found -1");
  EXPECT_EQ(refusal(own(user + R"(, "parent": 99999999999999999999})")),
            "sessions[0].messages[0].parent: expected a whole number from 0 to 9007199254740992, "
            "found 1e+20");
  EXPECT_EQ(refusal(own(user + "}", R"(, "leaf": 1)")),
            "sessions[0].leaf: expected the index of one of 1 messages before it, found 1");
  EXPECT_EQ(refusal(own(R"({"role": "king"})")),
            "sessions[0].messages[0].role: expected one of user, assistant, note, found \"king\"");
  EXPECT_EQ(refusal(own(R"({"role": "user", "created": "yesterday"})")),
            "sessions[0].messages[0].created: expected a time such as 2026-11-28T13:20:38.123Z, "
            "found \"yesterday\"");
  EXPECT_EQ(refusal(own(R"({"role": "assistant", "created": "2026-11-28T13:00:00.000Z",
                           "state": "running"})")),
            "sessions[0].messages[0].state: expected the state of an answer that has ended, found "
            "\"running\"");
  EXPECT_EQ(refusal(own(R"({"role": "assistant", "created": "2026-11-28T13:00:00.000Z",
                           "state": "done", "parts": [{"kind": "text"}]})")),
            "sessions[0].messages[0].parts[0].text: expected a value, found none");
  EXPECT_EQ(refusal(own("", R"(, "settings": {"temperature": 3})")),
            "sessions[0].settings.temperature: expected a number from 0.0 to 2.0, found 3");
  EXPECT_EQ(refusal(own("", R"(, "settings": {"repetition_penalty": 0})")),
            "sessions[0].settings.repetition_penalty: expected a number from 0.01 to 100.0, "
            "found 0");
  EXPECT_EQ(refusal(own("", R"(, "title": " ")")),
            "sessions[0].title: expected some text, found none");
}

TEST(Import, GivesEachSessionATitleOfOneBoundedLine) {
  const std::string name = "\\n first\\n" + std::string(5000, 'x');
  EXPECT_EQ(only(R"({"conv": {"name": ")" + name + R"("}, "messages": []})").session.title,
            "first");
  EXPECT_EQ(only(own("", R"(, "title": ")" + std::string(5000, 'x') + "\"")).session.title,
            std::string(200, 'x') + "…");
}

// In nanoseconds, or added up, such figures would be beyond every integer.
TEST(Import, RefusesFiguresThatCannotBe) {
  EXPECT_EQ(refusal(own(R"({"role": "assistant", "created": "2026-11-28T13:00:00.000Z",
                           "state": "done", "parts": [], "ms": 9223372036854775807})")),
            "sessions[0].messages[0].ms: expected a whole number from 0 to 9007199254740992, "
            "found 9223372036854775807");
  EXPECT_EQ(only(R"({"conv": {"name": "x"}, "messages": [{"id": "a", "role": "assistant",
                    "timings": {"predicted_n": 1e15}}]})")
                .entries.at(0)
                .message.answer.figures.tokens,
            0);
}

TEST(ImportOwn, RefusesANewerVersion) {
  EXPECT_EQ(error_of([] {
              read_export(R"({"format": "smolbot", "version": 2, "sessions": []})", kDefaults);
            }),
            ErrorCode::Unsupported);
}

TEST(Import, IsBounded) {
  EXPECT_EQ(refusal("[1, 2, 3]", {.text_bytes = 4}), "file: expected at most 4 bytes, found more");
  EXPECT_EQ(refusal("[1, 2, 3]", {.values = 3}), "file: expected at most 3 values, found more");
  EXPECT_EQ(refusal(R"({"a": 1, "b": 2})", {.keys = 1}),
            "file: expected at most 1 keys in one object, found more");
  EXPECT_EQ(refusal(std::string(100'000, '[')),
            "file: expected at most 256 levels of nesting, found more");
  EXPECT_EQ(refusal(kOpenWebui, {.messages = 3}),
            "[0].chat.history.messages.d: expected at most 3 messages, found more");
  EXPECT_NE(refusal(kLines, {.values = 100}).find("expected at most 100 values"),
            std::string::npos);
}

// A million copies of a text, or calls times results: small files that cost much.
TEST(Import, IsBoundedInWhatItMakesOfASmallFile) {
  std::string lines = R"({"type":"session","name":"x"})"
                      "\n"
                      R"({"type":"message","message":{"id":"a","role":"assistant","content":")" +
                      std::string(20'000, 'x') +
                      R"("}})"
                      "\n"
                      R"({"type":"message","message":{"id":"t","role":"tool","parent":"a"}})"
                      "\n";
  for (int i = 0; i < 10; ++i) {
    lines += R"({"type":"message","message":{"id":")" + std::to_string(i) +
             R"(","role":"assistant","content":"y","parent":"t"}})"
             "\n";
  }
  EXPECT_EQ(only(lines).entries.size(), 10U);
  EXPECT_EQ(refusal(lines, {.text_bytes = 100'000}),
            "line 9.message: expected answers that go on in a few ways, found one that goes on in "
            "many");
  EXPECT_EQ(refusal(kOpenWebui, {.items = 4}),
            "[0].chat.history.messages.b.output: expected at most 4 items, found more");
  EXPECT_EQ(refusal(kLines, {.items = 0}),
            "line 5.message.toolCalls: expected at most 0 items, found more");
}

TEST(Import, TouchesNothingWhenAFileIsRefused) {
  TestStore store;
  const std::string text = own(std::string(kUser) + "}, {}");
  EXPECT_EQ(error_of([&] { store->insert(read_export(text, kDefaults).transcripts); }),
            ErrorCode::BadInput);
  EXPECT_EQ(store->counts().sessions, 0U);
}

// --- ZIP archives, made here

void put(std::string& out, std::uint64_t value, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    out += static_cast<char>(value >> (8 * i) & 0xFFU);
  }
}

std::string deflated(std::string_view text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, text.size()), '\0');
  std::string in(text);
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

struct ZipFile {
  std::string name, content;
  bool deflate = true;
};

std::string zipped(const std::vector<ZipFile>& files) {
  std::string out;
  std::string directory;
  for (const ZipFile& file : files) {
    const std::string packed = file.deflate ? deflated(file.content) : file.content;
    std::string common;  // from "version needed" to the extra field's length
    put(common, 20, 2);
    put(common, 0, 2);
    put(common, file.deflate ? 8 : 0, 2);
    put(common, 0, 4);
    put(common,
        static_cast<std::uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(file.content.data()),
                                         static_cast<uInt>(file.content.size()))),
        4);
    put(common, static_cast<std::uint32_t>(packed.size()), 4);
    put(common, static_cast<std::uint32_t>(file.content.size()), 4);
    put(common, static_cast<std::uint32_t>(file.name.size()), 2);
    put(common, 0, 2);
    put(directory, 0x02014b50, 4);
    put(directory, 20, 2);
    directory += common;
    put(directory, 0, 8);
    put(directory, 0, 2);
    put(directory, static_cast<std::uint32_t>(out.size()), 4);
    directory += file.name;
    put(out, 0x04034b50, 4);
    out += common;
    out += file.name;
    out += packed;
  }
  const auto start = static_cast<std::uint32_t>(out.size());
  out += directory;
  put(out, 0x06054b50, 4);
  put(out, 0, 4);
  put(out, static_cast<std::uint32_t>(files.size()), 2);
  put(out, static_cast<std::uint32_t>(files.size()), 2);
  put(out, static_cast<std::uint32_t>(directory.size()), 4);
  put(out, start, 4);
  put(out, 0, 2);
  return out;
}

TEST(ImportZip, ReadsEverySessionOfAnArchive) {
  const std::string lines(kLines);
  const std::string archive =
      zipped({{"one.jsonl", lines}, {"read.me", "x"}, {"two.jsonl", lines, false}});
  const Import import = read_export(archive, kDefaults);
  ASSERT_EQ(import.transcripts.size(), 2U);
  EXPECT_EQ(outline(import.transcripts[1]), outline(only(kLines)));
}

TEST(ImportZip, RefusesADamagedArchiveAtAnyPlace) {
  const std::string archive = zipped({{"one.jsonl", std::string(kLines)}});
  for (std::size_t size = 4; size < archive.size(); ++size) {
    ASSERT_EQ(error_of([&] { read_export(archive.substr(0, size), kDefaults); }),
              ErrorCode::BadInput)
        << size;
  }
}

TEST(ImportZip, RefusesMoreThanTheLimitUnpacked) {
  const std::string archive = zipped({{"one.jsonl", std::string(100'000, ' ')}});
  ASSERT_LT(archive.size(), 1000U);
  EXPECT_EQ(refusal(archive, {.text_bytes = 50'000}),
            "ZIP archive: expected at most 50000 bytes unpacked, found more");
  EXPECT_EQ(refusal(zipped({{"a.txt", "x"}})),
            "file: expected .jsonl files in the archive, found none");
}

}  // namespace
}  // namespace smol::store
