// grammar_bench CASES TOKENIZER: compiles every schema of a fixture, then masks each token of its
// valid instances on one thread; one JSON line with its processor times and the number of masks.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <ctime>
#include <exception>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "conformance/token_grammar.h"
#include "grammar/matcher.h"
#include "text/tokenizer.h"

namespace {

using smol::Json;
using smol::TokenId;

// Of this thread, so that other work on the machine does not count.
double cpu_microseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

double microseconds_since(double begin) {
  return cpu_microseconds() - begin;
}

double quantile(std::vector<double>& times, double share) {
  const auto index = static_cast<std::size_t>(share * static_cast<double>(times.size() - 1));
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(index), times.end());
  return times[index];
}

struct Times {
  std::vector<double> compile, mask, limited, accept;  // microseconds
};

// As much as a real answer would ask for; the second mask is the one of an answer near its end.
void run_instance(smol::grammar::Matcher matcher, std::size_t words,
                  const std::vector<TokenId>& ids, Times& times) {
  std::vector<std::uint64_t> mask(words);
  for (const TokenId id : ids) {
    double begin = cpu_microseconds();
    matcher.mask(mask);
    times.mask.push_back(microseconds_since(begin));
    const std::size_t shortest = matcher.shortest_end();
    begin = cpu_microseconds();
    matcher.mask(mask, shortest);
    times.limited.push_back(microseconds_since(begin));
    begin = cpu_microseconds();
    const bool accepted = matcher.accept(id);
    times.accept.push_back(microseconds_since(begin));
    if (!accepted) {
      return;
    }
  }
}

int run(const char* cases, const char* tokenizer_path) {
  const auto tokenizer = smol::text::Tokenizer::open(tokenizer_path);
  double begin = cpu_microseconds();
  const auto vocabulary = smol::conformance::vocabulary_of(tokenizer);
  const double vocabulary_ms = microseconds_since(begin) / 1000;
  std::ifstream in(cases);
  Times times;
  for (std::string line; std::getline(in, line);) {
    const Json record = smol::parse_json(line, "case");
    std::shared_ptr<const smol::grammar::Grammar> grammar;
    begin = cpu_microseconds();
    try {
      grammar = smol::grammar::compile_json_schema(record.at("schema"));
    } catch (const smol::Error&) {
      continue;
    }
    const auto tokens = std::make_shared<const smol::grammar::TokenGrammar>(grammar, vocabulary);
    times.compile.push_back(microseconds_since(begin));
    for (const Json& test : record.at("tests")) {
      const auto ids = tokenizer.encode(test.at("data").dump(), smol::text::AddedTokens::None);
      if (test.at("valid").get<bool>()) {
        run_instance(smol::grammar::Matcher(tokens), vocabulary->mask_words(), ids, times);
      }
    }
  }
  if (times.mask.empty()) {
    throw smol::Error(smol::ErrorCode::BadInput, std::string(cases) + ": no case found");
  }
  std::printf("{\"vocabulary_ms\":%.1f,\"schemas\":%zu,\"masks\":%zu", vocabulary_ms,
              times.compile.size(), times.mask.size());
  const auto print = [](const char* name, std::vector<double>& all) {
    std::printf(",\"%s_median_us\":%.2f,\"%s_p99_us\":%.1f,\"%s_max_us\":%.1f", name,
                quantile(all, 0.5), name, quantile(all, 0.99), name, quantile(all, 1.0));
  };
  print("compile", times.compile);
  print("mask", times.mask);
  print("limited_mask", times.limited);
  print("accept", times.accept);
  std::printf("}\n");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: grammar_bench CASES TOKENIZER\n");
    return 2;
  }
  try {
    return run(argv[1], argv[2]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "grammar_bench: %s\n", error.what());
    return 1;
  }
}
