// prompt_bench TEMPLATE TOKENIZER: parses the template, then builds the prompt of a chat of 100
// messages again and again; one JSON line with medians in milliseconds.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/error.h"
#include "chat/prompt_builder.h"
#include "text/tokenizer.h"

namespace {

using smol::chat::Message;
using smol::chat::Role;

constexpr std::size_t kMessages = 100;
constexpr int kRuns = 51;

std::string read(const char* path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    throw smol::Error(smol::ErrorCode::NotFound, std::string(path) + ": cannot be read");
  }
  return {std::istreambuf_iterator<char>(in), {}};
}

// Questions and answers of some three hundred bytes, in turn.
std::vector<Message> long_chat() {
  std::vector<Message> messages;
  for (std::size_t i = 0; i < kMessages; ++i) {
    std::string content = "Message " + std::to_string(i) + ".";
    while (content.size() < 300) {
      content += " It speaks of gravity, weather and bread, and asks for more.";
    }
    Message& message = messages.emplace_back();
    message.role = i % 2 == 0 ? Role::User : Role::Assistant;
    message.content = content;
  }
  return messages;
}

template <class Work>
double median_milliseconds(Work work) {
  std::vector<double> times;
  for (int run = 0; run < kRuns; ++run) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double, std::milli> taken =
        std::chrono::steady_clock::now() - start;
    times.push_back(taken.count());
  }
  std::nth_element(times.begin(), times.begin() + kRuns / 2, times.end());
  return times[kRuns / 2];
}

int run(const char* template_path, const char* tokenizer_path) {
  const std::string source = read(template_path);
  const auto tokenizer = smol::text::Tokenizer::open(tokenizer_path);
  const std::vector<Message> messages = long_chat();
  smol::chat::PromptOptions options;
  options.now = smol::chat::local_now();
  const double parse = median_milliseconds([&] { smol::chat::PromptBuilder{source, tokenizer}; });
  const smol::chat::PromptBuilder builder(source, tokenizer);
  const double render = median_milliseconds([&] { builder.render(messages, options); });
  const double build = median_milliseconds([&] { builder.build(messages, options); });
  const std::size_t tokens = builder.build(messages, options).ids.size();
  std::printf(
      "{\"messages\":%zu,\"tokens\":%zu,\"parse_ms\":%.3f,\"render_ms\":%.3f,"
      "\"render_and_encode_ms\":%.3f}\n",
      kMessages, tokens, parse, render, build);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: prompt_bench TEMPLATE TOKENIZER\n");
    return 2;
  }
  try {
    return run(argv[1], argv[2]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "prompt_bench: %s\n", error.what());
    return 1;
  }
}
