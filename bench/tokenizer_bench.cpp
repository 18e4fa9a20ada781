// tokenizer_bench TOKENIZER TEXT whole|lines: loads the tokenizer, encodes the text once with cold
// caches and prints one JSON line. bench/tokenizer_compare.py runs it in turn with other libraries.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <ctime>
#include <exception>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "text/tokenizer.h"

namespace {

using Clock = std::chrono::steady_clock;

double cpu_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string read(const char* path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    throw smol::Error(smol::ErrorCode::NotFound, std::string(path) + ": cannot be read");
  }
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

int run(const char* tokenizer_path, const char* text_path, std::string_view unit) {
  const std::string text = read(text_path);
  const auto parts =
      unit == "lines" ? split_lines(text) : std::vector<std::string_view>{std::string_view(text)};
  const auto load_start = Clock::now();
  const auto tokenizer = smol::text::Tokenizer::open(tokenizer_path);
  const double load_seconds = seconds_since(load_start);
  std::size_t bytes = 0;
  std::size_t ids = 0;
  const double cpu_start = cpu_seconds();
  const auto start = Clock::now();
  for (const std::string_view part : parts) {
    bytes += part.size();
    ids += tokenizer.encode(part).size();
  }
  const double seconds = seconds_since(start);
  const double cpu = cpu_seconds() - cpu_start;
  std::printf(
      "{\"load_seconds\":%.3f,\"seconds\":%.4f,\"cpu_seconds\":%.4f,\"bytes\":%zu,\"ids\":%zu}\n",
      load_seconds, seconds, cpu, bytes, ids);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: tokenizer_bench TOKENIZER TEXT whole|lines\n");
    return 2;
  }
  try {
    return run(argv[1], argv[2], argv[3]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tokenizer_bench: %s\n", error.what());
    return 2;
  }
}
