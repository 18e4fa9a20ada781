#include "jinja/lipsum.h"

#include <algorithm>
#include <array>
#include <string>

#include "jinja/arguments.h"
#include "jinja/operators.h"

namespace smol::jinja {
namespace {

constexpr std::array kWords = std::to_array<std::string_view>(
    {"amet",   "ante",   "arcu",  "augue",  "congue", "cras",   "diam",  "dolor", "duis",
     "elit",   "enim",   "erat",  "eros",   "fames",  "felis",  "ipsum", "justo", "lacus",
     "libero", "lorem",  "magna", "mauris", "metus",  "nibh",   "nisl",  "nulla", "odio",
     "orci",   "pede",   "porta", "purus",  "risus",  "sapien", "sem",   "sit",   "tellus",
     "tempus", "turpis", "urna",  "velit",  "vitae",  "vivamus"});

std::string paragraph(Runtime& runtime, std::size_t words) {
  constexpr std::size_t kLongestWord = 10;
  constexpr std::size_t kSentence = 9;
  runtime.budget().charge(words, kLongestWord);
  std::string text;
  for (std::size_t i = 0; i < words; ++i) {
    std::string word(kWords[runtime.random(kWords.size())]);
    if (i % kSentence == 0) {
      word[0] = static_cast<char>(word[0] - 'a' + 'A');
    }
    text += i == 0 ? "" : " ";
    text += word;
    text += i + 1 == words || i % kSentence == kSentence - 1 ? "." : "";
  }
  return text;
}

}  // namespace

Value lipsum(Runtime& runtime, const CallArgs& call) {
  const Bound args(call, {"lipsum", {"n", "html", "min", "max"}});
  const std::int64_t count = args.has(0) ? to_index(args[0]) : 5;
  const bool html = !args.has(1) || truthy(runtime, args[1]);
  const std::int64_t least = args.has(2) ? to_index(args[2]) : 20;
  const std::int64_t most = args.has(3) ? to_index(args[3]) : 100;
  if (least < 0 || most <= least) {
    raise_value("empty range for randrange()");
  }
  std::string text;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto words =
        static_cast<std::size_t>(least) + runtime.random(static_cast<std::size_t>(most - least));
    const std::string words_text = paragraph(runtime, words);
    text += i == 0 ? "" : (html ? "\n" : "\n\n");
    text += html ? "<p>" + words_text + "</p>" : words_text;
    runtime.budget().step();
  }
  return runtime.text(MarkedString(std::move(text), Origin::Template), html);
}

}  // namespace smol::jinja
