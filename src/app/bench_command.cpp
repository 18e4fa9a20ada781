// `smolbot bench`: how fast prompts are read and tokens made, beside what the machine can do at
// best.
#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "app/bench_machine.h"
#include "app/bench_tests.h"
#include "app/commands.h"
#include "app/console.h"
#include "app/flags.h"
#include "app/model_choice.h"
#include "app/numbers.h"
#include "app/open_model.h"
#include "app/options.h"
#include "app/progress.h"
#include "base/error.h"
#include "base/json.h"
#include "kernels/kernel_table.h"

namespace smol::app {

namespace {

constexpr std::size_t kProbePasses = 12;
constexpr std::uint64_t kMostTokens = std::uint64_t{1} << 20U;
constexpr std::uint64_t kMostChunk = 8192;
constexpr std::uint64_t kMostSequences = 256;

struct BenchCommand {
  ModelOptions model;
  BenchSettings settings;
  bool json = false;
};

// What this machine gives at best, in 1e9 a second.
struct Ruler {
  double bytes, products;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2.0;
}

Json measure(Runtime& runtime, const BenchTest& test, const BenchCommand& command,
             const Ruler& ruler) {
  const BenchSettings& settings = command.settings;
  Progress progress{test.name};
  const std::vector<double> seconds = run_test(*runtime.decoder, test, settings, progress);
  const auto tokens = static_cast<double>(test.n_tokens * test.sequences);
  std::vector<double> speeds(seconds.size());
  std::ranges::transform(seconds, speeds.begin(), [&](double time) { return tokens / time; });
  const Work work = work_of(cost_of(runtime.weights, command.model.kv_type), test, settings.depth);
  const double speed = median(speeds);
  const double bytes = work.bytes * speed / tokens / 1e9;
  const double products = work.products * speed / tokens / 1e9;
  return {{"name", test.name},           {"depth", settings.depth},
          {"sequences", test.sequences}, {"chunk", test.chunk},
          {"tokens_per_second", speed},  {"runs", speeds},
          {"gb_per_s", bytes},           {"bandwidth_share", bytes / ruler.bytes},
          {"gmac_per_s", products},      {"int8_peak_share", products / ruler.products}};
}

std::string_view name_of(model::LoadSource source) {
  switch (source) {
    case model::LoadSource::Model:
      return "model file";
    case model::LoadSource::Mapped:
      return "panel file, mapped";
    case model::LoadSource::Read:
      return "panel file, read";
  }
  return {};
}

Json load_report(const model::Weights& weights) {
  const model::LoadReport& report = weights.load_report();
  return {{"source", name_of(report.source)},
          {"bytes", report.bytes},
          {"huge_page_bytes", report.huge_page_bytes},
          {"seconds", report.seconds}};
}

Json report_of(Runtime& runtime, const BenchCommand& command) {
  const std::string_view isa = kernels::active_kernels().isa;
  const Ruler ruler{bandwidth_gb_per_s(runtime.pool, {runtime.weights.bytes()}, isa, kProbePasses),
                    int8_peak_gmac_per_s(runtime.pool, isa, kProbePasses)};
  Json tests = Json::array();
  for (const BenchTest& test : tests_of(command.settings)) {
    tests.push_back(measure(runtime, test, command, ruler));
  }
  const ModelCost cost = cost_of(runtime.weights, command.model.kv_type);
  return {{"tests", std::move(tests)},
          {"bandwidth_gb_per_s", ruler.bytes},
          {"int8_peak_gmac_per_s", ruler.products},
          {"bytes_per_token", static_cast<std::uint64_t>(cost.layer_bytes + cost.output_bytes)},
          {"products_per_prompt_token", static_cast<std::uint64_t>(cost.layer_products)},
          {"load", load_report(runtime.weights)},
          {"rss_bytes", peak_resident_bytes()},
          {"threads", runtime.pool.size()},
          {"isa", std::string(isa)}};
}

std::string test_text(const Json& test) {
  std::string what = test["name"].get<std::string>();
  if (test["sequences"].get<std::size_t>() > 1) {
    what += fmt::format(" x {}", test["sequences"].get<std::size_t>());
  }
  if (test["depth"].get<std::size_t>() > 0) {
    what += fmt::format(" at {}", test["depth"].get<std::size_t>());
  }
  const auto number = [&test](const char* key) { return test[key].get<double>(); };
  return fmt::format(
      "{:<16} {:8.2f} tokens/s  {:7.2f} GB/s ({:3.0f} % of bandwidth)  {:8.1f} GMAC/s ({:3.0f} % "
      "of int8 peak)\n",
      what, number("tokens_per_second"), number("gb_per_s"), 100.0 * number("bandwidth_share"),
      number("gmac_per_s"), 100.0 * number("int8_peak_share"));
}

std::string as_text(const Json& report, const std::string& model) {
  std::string out = fmt::format(
      "model      {}\nthreads    {}\nisa        {}\nbandwidth  {:.2f} GB/s\nint8 peak  {:.1f} "
      "GMAC/s\nweights    {} a token\n",
      model, report["threads"].get<std::size_t>(), report["isa"].get<std::string>(),
      report["bandwidth_gb_per_s"].get<double>(), report["int8_peak_gmac_per_s"].get<double>(),
      bytes_text(report["bytes_per_token"].get<std::uint64_t>()));
  for (const Json& test : report["tests"]) {
    out += test_text(test);
  }
  const Json& load = report["load"];
  out += fmt::format("loaded     {} in {:.2f} s, {} of it on huge pages ({})\n",
                     bytes_text(load["bytes"].get<std::uint64_t>()), load["seconds"].get<double>(),
                     bytes_text(load["huge_page_bytes"].get<std::uint64_t>()),
                     load["source"].get<std::string>());
  return out + fmt::format("resident   {} at most\n",
                           bytes_text(report["rss_bytes"].get<std::uint64_t>()));
}

void check_room(const model::Decoder& decoder, std::size_t needed, std::size_t sequences) {
  const std::size_t context = decoder.options().context;
  if (needed > context) {
    throw Error{ErrorCode::BadInput,
                fmt::format("--context: expected at least {} (depth and tokens), found {}", needed,
                            context)};
  }
  const std::size_t n_blocks = (needed + model::kBlockTokens - 1) / model::kBlockTokens * sequences;
  if (n_blocks > decoder.n_blocks()) {
    const std::size_t block_bytes =
        model::kv_block_bytes(decoder.config(), decoder.options().kv_type);
    throw Error{ErrorCode::Exhausted,
                fmt::format("--sequences: memory for {} times {} tokens: expected {}, found {}",
                            sequences, needed, bytes_text(n_blocks * block_bytes),
                            bytes_text(decoder.n_blocks() * block_bytes))};
  }
}

int run(const BenchCommand& command) {
  const BenchSettings& settings = command.settings;
  const ModelChoice choice = choose_model_and_tell(command.model.model);
  const std::size_t longest = std::max(settings.prompt_tokens, settings.generated_tokens);
  const std::size_t needed = settings.depth + std::max<std::size_t>(longest, 1);
  const std::size_t sequences =
      *std::max_element(settings.sequences.begin(), settings.sequences.end());
  Runtime runtime{choice.path,
                  command.model,
                  needed,
                  {.max_batch = std::max(settings.chunk, sequences),
                   .n_slots = sequences,
                   .n_contexts = sequences}};
  check_room(*runtime.decoder, needed, sequences);
  const Json report = report_of(runtime, command);
  print(command.json ? report.dump() + "\n" : as_text(report, choice.path.string()));
  return 0;
}

void add_test_flags(CLI::App& command, BenchSettings& settings) {
  add_count(command, {"-p,--prompt-tokens", "tokens of the prompt test; 0: none", "512"},
            {0, kMostTokens}, settings.prompt_tokens);
  add_count(command, {"-n,--generated-tokens", "tokens of the generation test; 0: none", "64"},
            {0, kMostTokens}, settings.generated_tokens);
  add_count(command, {"-d,--depth", "tokens that the context holds before", "0"}, {0, kMostTokens},
            settings.depth);
  add_count(command, {"-b,--prompt-chunk", "tokens of a prompt that are read at once", "512"},
            {1, kMostChunk}, settings.chunk);
  add_count(command, {"-r,--repetitions", "runs of each test; the median counts", "3"}, {1, 1000},
            settings.repetitions);
  add_value(command, {"--npl,--sequences", "numbers of sequences that are generated together", "1"},
            "N,N...", [&settings](const auto& what, const auto& text) {
              settings.sequences = parse_counts(what, text, {1, kMostSequences});
            });
}

}  // namespace

void add_bench_command(CLI::App& program, Plan& plan) {
  auto state = std::make_shared<BenchCommand>();
  CLI::App& command =
      add_command(program, "bench", "measures how fast prompts are read and tokens made", plan,
                  [state] { return run(*state); });
  add_file_options(command, state->model);
  add_template_option(command, state->model);
  add_compute_options(command, state->model);
  add_test_flags(command, state->settings);
  add_choice<bool>(command, {"-o,--output", "form of the output", "text", "bench"},
                   {{"text", false}, {"json", true}}, state->json);
}

}  // namespace smol::app
