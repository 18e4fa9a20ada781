// `smolbot bench`: how fast prompts are read and tokens made, beside what the machine can do at
// best.
#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "app/bench_machine.h"
#include "app/commands.h"
#include "app/console.h"
#include "app/flags.h"
#include "app/model_choice.h"
#include "app/open_model.h"
#include "app/options.h"
#include "app/progress.h"
#include "base/error.h"
#include "base/json.h"
#include "kernels/kernel_table.h"

namespace smol::app {

namespace {

constexpr std::size_t kProbePasses = 10;

struct BenchCommand {
  ModelOptions model;
  std::size_t prompt_tokens = 512;
  std::size_t generated_tokens = 64;
  std::size_t depth = 0;
  std::size_t repetitions = 3;
  bool json = false;
};

struct Test {
  std::string name;  // "pp512": a prompt of 512 tokens; "tg64": 64 tokens, one by one
  std::size_t n_tokens;
  std::size_t batch;  // tokens of one step
};

// Ids that jump about the vocabulary, the same on every machine.
std::vector<TokenId> test_ids(std::size_t n, std::size_t vocab_size) {
  constexpr std::uint64_t kStep = 2654435761U;  // Knuth's multiplicative hash
  std::vector<TokenId> ids;
  for (std::size_t i = 0; i < n; ++i) {
    ids.push_back(static_cast<TokenId>((i + 1) * kStep % vocab_size));
  }
  return ids;
}

void feed(model::Decoder& decoder, std::span<const TokenId> ids, std::size_t batch_size) {
  std::vector<model::BatchToken> batch;
  for (std::size_t begin = 0; begin < ids.size(); begin += batch_size) {
    const std::size_t end = std::min(begin + batch_size, ids.size());
    const std::uint32_t before = decoder.n_tokens(0);
    batch.clear();
    for (std::size_t i = begin; i < end; ++i) {
      batch.push_back({.token = ids[i],
                       .position = before + static_cast<std::uint32_t>(i - begin),
                       .slot = 0,
                       .wants_logits = i + 1 == end && (batch_size == 1 || end == ids.size())});
    }
    decoder.forward(batch);
  }
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2.0;
}

// Tokens a second of each run.
std::vector<double> measure(model::Decoder& decoder, const Test& test, const BenchCommand& command,
                            Progress& progress) {
  using Clock = std::chrono::steady_clock;
  const std::vector<TokenId> ids =
      test_ids(command.depth + test.n_tokens, decoder.config().vocab_size);
  const auto before = std::span(ids).first(command.depth);
  const auto timed = std::span(ids).subspan(command.depth);
  decoder.truncate(0, 0);
  feed(decoder, before, decoder.options().max_batch);
  // The first step touches memory for the first time.
  feed(decoder, timed.first(std::min(timed.size(), test.batch)), test.batch);
  std::vector<double> runs;
  for (std::size_t run = 0; run < command.repetitions; ++run) {
    progress.update(run, command.repetitions);
    decoder.truncate(0, static_cast<std::uint32_t>(command.depth));
    const Clock::time_point begin = Clock::now();
    feed(decoder, timed, test.batch);
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    runs.push_back(static_cast<double>(timed.size()) / seconds);
  }
  return runs;
}

// Bytes of weights that one generated token reads: of an embedding that is not the output matrix,
// too, only one row.
std::uint64_t bytes_per_token(const gguf::File& file) {
  const bool tied = file.find("output.weight") == nullptr;
  std::uint64_t bytes = 0;
  for (const gguf::TensorView& tensor : file.tensors()) {
    const bool one_row = !tied && tensor.name == "token_embd.weight";
    bytes += one_row ? tensor.row_bytes() : tensor.bytes.size();
  }
  return bytes;
}

std::vector<Test> tests_of(const BenchCommand& command, std::size_t max_batch) {
  std::vector<Test> tests;
  if (command.prompt_tokens > 0) {
    tests.push_back({fmt::format("pp{}", command.prompt_tokens), command.prompt_tokens, max_batch});
  }
  if (command.generated_tokens > 0) {
    tests.push_back({fmt::format("tg{}", command.generated_tokens), command.generated_tokens, 1});
  }
  return tests;
}

Json run_tests(Runtime& runtime, const BenchCommand& command) {
  Json tests = Json::array();
  for (const Test& test : tests_of(command, runtime.decoder->options().max_batch)) {
    Progress progress{test.name};
    const std::vector<double> runs = measure(*runtime.decoder, test, command, progress);
    tests.push_back({{"name", test.name},
                     {"depth", command.depth},
                     {"sequences", 1},
                     {"tokens_per_second", median(runs)},
                     {"runs", runs}});
  }
  return tests;
}

Json load_report(const model::Weights& weights) {
  const model::LoadReport& report = weights.load_report();
  return {{"bytes", report.bytes},
          {"huge_page_bytes", report.huge_page_bytes},
          {"seconds", report.seconds}};
}

Json report_of(Runtime& runtime, const BenchCommand& command) {
  const std::string_view isa = kernels::active_kernels().isa;
  const double bandwidth =
      bandwidth_gb_per_s(runtime.pool, {runtime.weights.bytes()}, isa, kProbePasses);
  const double peak = int8_peak_gmac_per_s(runtime.pool, isa, kProbePasses);
  Json tests = run_tests(runtime, command);
  return {{"tests", std::move(tests)},
          {"bandwidth_gb_per_s", bandwidth},
          {"int8_peak_gmac_per_s", peak},
          {"bytes_per_token", bytes_per_token(runtime.file)},
          {"load", load_report(runtime.weights)},
          {"rss_bytes", peak_resident_bytes()},
          {"threads", runtime.pool.size()},
          {"isa", std::string(isa)}};
}

std::string as_text(const Json& report, const std::string& model) {
  const double bandwidth = report["bandwidth_gb_per_s"].get<double>();
  const double bytes = report["bytes_per_token"].get<double>();
  std::string out = fmt::format(
      "model      {}\nthreads    {}\nisa        {}\nbandwidth  {:.2f} GB/s\nint8 peak  {:.1f} "
      "GMAC/s\n"
      "weights    {} a token\n",
      model, report["threads"].get<std::size_t>(), report["isa"].get<std::string>(), bandwidth,
      report["int8_peak_gmac_per_s"].get<double>(), bytes_text(static_cast<std::uint64_t>(bytes)));
  for (const Json& test : report["tests"]) {
    const auto name = test["name"].get<std::string>();
    const double speed = test["tokens_per_second"].get<double>();
    out += fmt::format("{:<10} {:.2f} tokens/s", name, speed);
    if (test["depth"].get<std::size_t>() > 0) {
      out += fmt::format(" at depth {}", test["depth"].get<std::size_t>());
    }
    if (name.starts_with("tg")) {
      const double rate = speed * bytes / 1e9;
      out +=
          fmt::format(", {:.2f} GB/s, {:.0f} % of the bandwidth", rate, 100.0 * rate / bandwidth);
    }
    out += "\n";
  }
  const Json& load = report["load"];
  out += fmt::format("loaded     {} in {:.2f} s, {} of it on huge pages\n",
                     bytes_text(load["bytes"].get<std::uint64_t>()), load["seconds"].get<double>(),
                     bytes_text(load["huge_page_bytes"].get<std::uint64_t>()));
  return out + fmt::format("resident   {} at most\n",
                           bytes_text(report["rss_bytes"].get<std::uint64_t>()));
}

int run(const BenchCommand& command) {
  const ModelChoice choice = choose_model_and_tell(command.model.model);
  const std::size_t longest = std::max(command.prompt_tokens, command.generated_tokens);
  const std::size_t needed = command.depth + std::max<std::size_t>(longest, 1);
  Runtime runtime{choice.path, command.model, needed};
  const std::size_t context = runtime.decoder->options().context;
  if (needed > context) {
    throw Error{ErrorCode::BadInput,
                fmt::format("--context: expected at least {} (depth and tokens), found {}", needed,
                            context)};
  }
  const Json report = report_of(runtime, command);
  print(command.json ? report.dump() + "\n" : as_text(report, choice.path.string()));
  return 0;
}

}  // namespace

void add_bench_command(CLI::App& program, Plan& plan) {
  constexpr std::uint64_t kMostTokens = std::uint64_t{1} << 20U;
  auto state = std::make_shared<BenchCommand>();
  CLI::App& command =
      add_command(program, "bench", "measures how fast prompts are read and tokens made", plan,
                  [state] { return run(*state); });
  add_file_options(command, state->model);
  add_template_option(command, state->model);
  add_compute_options(command, state->model);
  add_count(command, {"-p,--prompt-tokens", "tokens of the prompt test; 0: none", "512"},
            {0, kMostTokens}, state->prompt_tokens);
  add_count(command, {"-n,--generated-tokens", "tokens of the generation test; 0: none", "64"},
            {0, kMostTokens}, state->generated_tokens);
  add_count(command, {"-d,--depth", "tokens that the context holds before", "0"}, {0, kMostTokens},
            state->depth);
  add_count(command, {"-r,--repetitions", "runs of each test; the median counts", "3"}, {1, 1000},
            state->repetitions);
  add_choice<bool>(command, {"-o,--output", "form of the output", "text", "bench"},
                   {{"text", false}, {"json", true}}, state->json);
}

}  // namespace smol::app
