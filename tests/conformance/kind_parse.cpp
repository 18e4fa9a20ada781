// parse: raw model text -> thoughts, content, calls. Each case is run whole, in every cut into two,
// byte by byte, with its tags as tokens (cut in the same ways), and with its tags spelled out where
// only tokens count.
#include <string>
#include <utility>
#include <vector>

#include "chat/space.h"
#include "conformance/conformance.h"
#include "conformance/parse_support.h"

namespace smol::conformance {
namespace {

using Pieces = std::vector<chat::Piece>;

class ParseCase {
 public:
  ParseCase(const Json& record, std::string id, Report& report)
      : id_(std::move(id)),
        report_(report),
        raw_(record.at("raw").get<std::string>()),
        stop_(record.at("mode").at("stop").get<std::string>()),
        mode_(mode_of(record.at("mode"))),
        expected_(record.at("expected")) {
    if (!expected_.contains("code_blocks")) {
      expected_["code_blocks"] = Json::array();
    }
  }

  void run() {
    check_all_cuts({{raw_, false}}, mode_, "text");
    chat::OutputMode tokens = mode_;
    tokens.token_tags.set();
    check_all_cuts(pieces_of(raw_), tokens, "tokens");
    check_spelled(tokens);
    if (ok_) {
      report_.pass();
    }
  }

 private:
  void check(const Pieces& pieces, const chat::OutputMode& mode, const std::string& how) {
    const Json found = result_of(chat::parse_output(pieces, mode), stop_);
    for (const auto& [key, value] : expected_.items()) {
      if (ok_ && found.at(key) != value) {
        ok_ = false;
        report_.fail(id_ + " (" + how + ")", expected_.dump(), found.dump());
      }
    }
  }

  void check_all_cuts(const Pieces& pieces, const chat::OutputMode& mode, const std::string& how) {
    check(pieces, mode, how);
    Pieces bytes;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const std::string& text = pieces[i].text;
      if (pieces[i].is_tag) {
        bytes.push_back(pieces[i]);
        continue;
      }
      for (std::size_t cut = 1; cut < text.size(); ++cut) {
        Pieces two(pieces);
        two[i].text = text.substr(0, cut);
        two.insert(two.begin() + static_cast<std::ptrdiff_t>(i) + 1, {text.substr(cut), false});
        check(two, mode, how + ", cut at " + std::to_string(cut));
      }
      for (const char byte : text) {
        bytes.push_back({std::string(1, byte), false});
      }
    }
    check(bytes, mode, how + ", byte by byte");
  }

  void check_spelled(const chat::OutputMode& tokens) {
    const bool open = tokens.reasoning_open;
    const std::string thought(chat::strip(raw_));
    expected_ = {{"reasoning_content", open && !thought.empty() ? Json(thought) : Json()},
                 {"content", open ? "" : raw_},
                 {"tool_calls", Json::array()},
                 {"code_blocks", Json::array()},
                 {"finish_reason", stop_}};
    check_all_cuts({{raw_, false}}, tokens, "spelled");
  }

  std::string id_;
  Report& report_;
  std::string raw_, stop_;
  chat::OutputMode mode_;
  Json expected_;
  bool ok_ = true;
};

}  // namespace

void run_parse(const Options& options, Report& report) {
  for_each_record(options.cases, report, [&](const Json& record, const std::string& id) {
    ParseCase(record, id, report).run();
  });
}

}  // namespace smol::conformance
