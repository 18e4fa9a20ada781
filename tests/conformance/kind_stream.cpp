// stream: token texts -> deltas; their sum, the finish reason, and that no delta holds a tag or
// half a character.
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/utf8.h"
#include "conformance/conformance.h"
#include "conformance/parse_support.h"

namespace smol::conformance {
namespace {

std::string bytes_of_hex(const std::string& hex) {
  std::string out;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    out += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  return out;
}

// Whole characters only, as the stream decoder gives them.
std::vector<std::string> texts_of(const Json& example) {
  if (!example.contains("token_bytes_hex")) {
    return example.at("token_texts").get<std::vector<std::string>>();
  }
  std::vector<std::string> out;
  std::string held;
  for (const Json& hex : example.at("token_bytes_hex")) {
    held += bytes_of_hex(hex.get<std::string>());
    if (utf8::is_valid(held)) {
      out.push_back(std::exchange(held, {}));
    }
  }
  if (!held.empty()) {
    out.push_back(utf8::to_valid(held));
  }
  return out;
}

std::string visible_text(const chat::OutputEvent& event) {
  if (const auto* text = std::get_if<chat::TextDelta>(&event)) {
    return text->text;
  }
  if (const auto* thinking = std::get_if<chat::ThinkingDelta>(&event)) {
    return thinking->text;
  }
  return "";
}

class Example {
 public:
  Example(const Json& example, Report& report)
      : example_(example), name_(example.at("name").get<std::string>()), report_(report) {}

  // With the tags as text, then as tokens.
  void run() {
    const bool ok = is_right(false) && is_right(true);
    if (ok) {
      report_.pass();
    }
  }

 private:
  bool is_right(bool tags_are_tokens) {
    sum_ = {};
    ok_ = true;
    chat::OutputMode mode = mode_of(example_.at("mode"));
    mode.token_tags = tags_are_tokens ? chat::TagSet().set() : chat::TagSet();
    chat::OutputParser parser(mode);
    for (const std::string& text : texts_of(example_)) {
      if (!tags_are_tokens) {
        take(parser.feed(text));
        continue;
      }
      for (const chat::Piece& piece : pieces_of(text)) {
        const auto tag = piece.is_tag ? chat::tag_of(piece.text) : std::nullopt;
        take(tag ? parser.feed_tag(*tag) : parser.feed(piece.text));
      }
    }
    take(parser.finish());
    compare(example_.at("finish_reason").get<std::string>());
    return ok_;
  }

  void fail(std::string_view expected, std::string_view found) {
    if (ok_) {
      report_.fail(name_, expected, found);
    }
    ok_ = false;
  }

  void take(const std::vector<chat::OutputEvent>& events) {
    for (const chat::OutputEvent& event : events) {
      const std::string text = visible_text(event);
      const std::string content = example_.at("sum").at("content").is_string()
                                      ? example_.at("sum").at("content").get<std::string>()
                                      : "";
      for (const std::string_view tag : chat::kTagTexts) {
        if (text.find(tag) != std::string::npos && content.find(tag) == std::string::npos) {
          fail("no tag in a delta", text);
        }
      }
      if (!utf8::is_valid(text)) {
        fail("whole characters", text);
      }
      sum_.add(event);
    }
  }

  void compare(const std::string& finish_reason) {
    const Json& expected = example_.at("sum");
    Json calls = Json::array();
    for (const Json& call : expected.at("tool_calls")) {
      const auto arguments = call.at("arguments").get<std::string>();
      calls.push_back({{"name", call.at("name")}, {"arguments", parse_json(arguments, name_)}});
    }
    const std::string stop = finish_reason == "tool_calls" ? "stop" : finish_reason;
    const Json found = result_of(sum_, stop);
    const bool same = found.at("content") == expected.at("content") &&
                      found.at("reasoning_content") == expected.at("reasoning_content") &&
                      found.at("tool_calls") == calls && found.at("finish_reason") == finish_reason;
    if (!same) {
      fail(expected.dump(), found.dump());
    }
  }

  const Json& example_;
  std::string name_;
  Report& report_;
  chat::ParsedOutput sum_;
  bool ok_ = true;
};

}  // namespace

void run_stream(const Options& options, Report& report) {
  for (const Json& example : parse_json(read_file(options.cases), options.cases.string())) {
    Example(example, report).run();
  }
}

}  // namespace smol::conformance
