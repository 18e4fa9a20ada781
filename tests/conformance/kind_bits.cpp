// Every logit of a record's ids has the same bytes for each prefill chunk and number of threads,
// alone and beside three other sequences. The cases are those of logits.jsonl.
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "conformance/conformance.h"
#include "conformance/model_runner.h"

namespace smol::conformance {

namespace {

constexpr std::array<std::size_t, 4> kChunks{1, 7, 64, 512};
constexpr std::size_t kMostThreads = kChunks.size();

// The record's ids, cut or repeated as the options say.
std::vector<TokenId> ids_to_run(const Json& record, const Options& options) {
  std::vector<TokenId> ids = ids_of(record.at("ids"));
  const std::size_t own = ids.size();
  for (std::size_t i = 0; ids.size() < options.min_tokens.value_or(0); ++i) {
    ids.push_back(ids[i % own]);
  }
  if (options.max_tokens && *options.max_tokens < ids.size()) {
    ids.resize(*options.max_tokens);
  }
  return ids;
}

// All logits of one run, kept (an empty `logits`) or compared.
class Comparison {
 public:
  explicit Comparison(std::vector<float>& logits) : logits_(logits), is_first_(logits.empty()) {}

  void operator()(std::size_t position, std::span<const float> row) {
    if (is_first_) {
      logits_.insert(logits_.end(), row.begin(), row.end());
    } else if (std::memcmp(row.data(), &logits_[position * row.size()], row.size_bytes()) != 0 &&
               differing_ == 0) {
      differing_ = position + 1;
    }
  }

  bool is_same() const noexcept { return differing_ == 0; }

  std::string text() const { return "other bytes at position " + std::to_string(differing_ - 1); }

 private:
  std::vector<float>& logits_;
  bool is_first_;
  std::size_t differing_ = 0;  // position + 1
};

// One way to run the ids; the first of them gives the logits that the others must give.
struct Way {
  std::size_t threads, chunk;
  bool beside_others;

  [[nodiscard]] std::string text() const {
    return "chunk " + std::to_string(chunk) + ", " + std::to_string(threads) + " threads" +
           (beside_others ? ", beside three other sequences" : "");
  }
};

// Each chunk with each number of threads; beside others each of both once, since a chunk of one
// token then costs five times as much.
std::vector<Way> ways_of(std::size_t threads) {
  std::vector<Way> ways;
  ways.reserve(kChunks.size() + 1);
  for (const std::size_t chunk : kChunks) {
    ways.push_back({threads, chunk, false});
  }
  ways.push_back({threads, kChunks[threads - 1], true});
  return ways;
}

void check(const std::filesystem::path& model, const std::vector<TokenId>& ids,
           RunnerSettings settings, const std::string& id, Report& report) {
  const std::vector<bool> all(ids.size(), true);
  std::vector<float> logits;
  settings.has_others = true;
  for (settings.threads = 1; settings.threads <= kMostThreads; ++settings.threads) {
    ModelRunner runner(model, settings);
    for (const Way& way : ways_of(settings.threads)) {
      Comparison comparison(logits);
      const auto run = way.beside_others ? &ModelRunner::run_beside_others : &ModelRunner::run;
      (runner.*run)(ids, all, way.chunk, std::ref(comparison));
      if (!comparison.is_same()) {
        report.fail(id, "the bytes of chunk 1 and 1 thread",
                    comparison.text() + " (" + way.text() + ")");
        return;
      }
    }
  }
  report.pass();
}

}  // namespace

void run_bits(const Options& options, Report& report) {
  const RunnerSettings settings = settings_of(options);
  const ModelLibrary library(options.models, settings);
  for_each_wanted(options, report, [&](const Json& record, const std::string& id) {
    const std::string model = record.at("model").get<std::string>();
    if (const auto path = library.find(model)) {
      check(*path, ids_to_run(record, options), settings, id, report);
    } else {
      report.skip(id, model + " is in none of the --models folders");
    }
  });
}

}  // namespace smol::conformance
