// `smolbot eval`: perplexity of a text, and KL divergence against a second model or setting.
#include <cmath>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "app/all_logits.h"
#include "app/commands.h"
#include "app/console.h"
#include "app/divergence.h"
#include "app/flags.h"
#include "app/kv_types.h"
#include "app/model_choice.h"
#include "app/open_model.h"
#include "app/options.h"
#include "app/progress.h"
#include "app/text_input.h"
#include "base/error.h"
#include "base/json.h"
#include "kernels/kernel_table.h"

namespace smol::app {

namespace {

struct EvalCommand {
  ModelOptions model;
  std::filesystem::path text;
  std::size_t window = 512;
  std::optional<std::size_t> stride;  // none: the window
  std::optional<std::filesystem::path> against_model;
  std::optional<model::KvCacheType> against_kv_type;
  bool json = false;
};

struct Totals {
  std::size_t n_tokens = 0, n_windows = 0, n_scored = 0;
  double nll = 0.0;
  std::vector<double> divergences;
  std::size_t n_same_top = 0;
};

struct Pair {
  model::Decoder& tested;
  model::Decoder* reference;  // nullptr: only perplexity
};

// Rows [n_ids, vocab_size] of one window.
std::vector<float> logits_of(model::Decoder& decoder, std::span<const TokenId> ids) {
  std::vector<float> rows;
  rows.reserve(ids.size() * decoder.config().vocab_size);
  for_each_logits(decoder, ids, [&rows](std::size_t, std::span<const float> logits) {
    rows.insert(rows.end(), logits.begin(), logits.end());
  });
  return rows;
}

// Scores the tokens of a window from `first` on, each by what stands before it.
void score_window(const Pair& pair, std::span<const TokenId> ids, std::size_t first,
                  Totals& totals) {
  const std::size_t vocab_size = pair.tested.config().vocab_size;
  const std::vector<float> reference =
      pair.reference == nullptr ? std::vector<float>() : logits_of(*pair.reference, ids);
  for_each_logits(pair.tested, ids, [&](std::size_t position, std::span<const float> logits) {
    const std::size_t target = position + 1;
    if (target < first || target >= ids.size()) {
      return;
    }
    totals.nll += negative_log_likelihood(logits, ids[target]);
    ++totals.n_scored;
    if (!reference.empty()) {
      const std::span<const float> row =
          std::span(reference).subspan(position * vocab_size, vocab_size);
      totals.divergences.push_back(kl_divergence(row, logits));
      totals.n_same_top += top_token(row) == top_token(logits) ? 1U : 0U;
    }
  });
  ++totals.n_windows;
}

Totals evaluate(const Pair& pair, std::span<const TokenId> ids, std::size_t window,
                std::size_t stride) {
  if (ids.size() < window) {
    throw Error{ErrorCode::BadInput,
                fmt::format("eval: text: expected at least {} tokens (--window), found {}", window,
                            ids.size())};
  }
  Totals totals;
  totals.n_tokens = ids.size();
  Progress progress{"evaluating"};
  for (std::size_t begin = 0; begin + window <= ids.size(); begin += stride) {
    // What an earlier window scored is only context here.
    const std::size_t first = begin == 0 ? 1 : std::max<std::size_t>(window - stride, 1);
    score_window(pair, ids.subspan(begin, window), first, totals);
    progress.update(begin + window, ids.size());
  }
  return totals;
}

Json report_of(const EvalCommand& command, const Totals& totals, std::size_t stride) {
  const double mean_nll = totals.nll / static_cast<double>(totals.n_scored);
  Json report = {
      {"tokens", totals.n_tokens},       {"window", command.window},  {"stride", stride},
      {"windows", totals.n_windows},     {"scored", totals.n_scored}, {"mean_nll", mean_nll},
      {"perplexity", std::exp(mean_nll)}};
  if (!totals.divergences.empty()) {
    const DivergenceSummary summary = summarize(totals.divergences);
    report["kl_mean"] = summary.mean;
    report["kl_99_percent"] = summary.percentile_99;
    report["kl_largest"] = summary.largest;
    report["top_1_agreement"] =
        static_cast<double>(totals.n_same_top) / static_cast<double>(totals.n_scored);
  }
  return report;
}

std::string as_text(const Json& report) {
  std::string out = fmt::format(
      "tokens      {} ({} scored in {} windows of {})\nmean nll    {:.6f}\nperplexity  {:.4f}\n",
      report["tokens"].get<std::size_t>(), report["scored"].get<std::size_t>(),
      report["windows"].get<std::size_t>(), report["window"].get<std::size_t>(),
      report["mean_nll"].get<double>(), report["perplexity"].get<double>());
  if (report.contains("kl_mean")) {
    out += fmt::format(
        "mean KLD    {:.6g}\n99 % KLD    {:.6g}\nlargest KLD {:.6g}\nsame top    {:.3f} %\n",
        report["kl_mean"].get<double>(), report["kl_99_percent"].get<double>(),
        report["kl_largest"].get<double>(), 100.0 * report["top_1_agreement"].get<double>());
  }
  return out;
}

// The model or setting to compare with, if one was asked for.
struct Reference {
  std::unique_ptr<Runtime> runtime;         // of another model
  std::unique_ptr<model::Decoder> decoder;  // of the same one, with another cache

  model::Decoder* get() const noexcept { return runtime ? runtime->decoder.get() : decoder.get(); }
};

Reference open_reference(const EvalCommand& command, Runtime& tested) {
  Reference reference;
  ModelOptions options = command.model;
  options.kv_type = command.against_kv_type.value_or(options.kv_type);
  if (command.against_model) {
    reference.runtime = std::make_unique<Runtime>(*command.against_model, options, command.window,
                                                  Capacity{.max_batch = kAllLogitsBatch});
  } else if (command.against_kv_type) {
    model::DecoderOptions decoder = tested.decoder->options();
    decoder.kv_type = options.kv_type;
    reference.decoder =
        model::make_cpu_decoder(tested.weights, decoder, tested.pool, kernels::active_kernels());
  }
  return reference;
}

int run(const EvalCommand& command) {
  const std::size_t stride = command.stride.value_or(command.window);
  if (stride > command.window) {
    throw Error{
        ErrorCode::BadInput,
        fmt::format("--stride: expected at most {} (--window), found {}", command.window, stride)};
  }
  const std::string text = read_text_file(command.text, "eval: TEXT", kMostEvalBytes);
  const ModelChoice choice = choose_model_and_tell(command.model.model);
  Runtime runtime{choice.path, command.model, command.window, {.max_batch = kAllLogitsBatch}};
  const Reference reference = open_reference(command, runtime);
  const std::size_t vocab_size = runtime.weights.config().vocab_size;
  if (reference.get() != nullptr && reference.get()->config().vocab_size != vocab_size) {
    throw Error{ErrorCode::BadInput,
                fmt::format("--against-model: expected a vocabulary of {}, found {}", vocab_size,
                            reference.get()->config().vocab_size)};
  }
  const std::vector<TokenId> ids = open_tokenizer(runtime.file, command.model).encode(text);
  check_fits("--window", command.window, *runtime.decoder);
  check_vocabulary(ids, vocab_size);
  const Pair pair{.tested = *runtime.decoder, .reference = reference.get()};
  const Json report = report_of(command, evaluate(pair, ids, command.window, stride), stride);
  print(command.json ? report.dump() + "\n" : as_text(report));
  return 0;
}

}  // namespace

void add_eval_command(CLI::App& program, Plan& plan) {
  constexpr std::uint64_t kMaxWindow = std::uint64_t{1} << 20U;
  auto state = std::make_shared<EvalCommand>();
  CLI::App& command =
      add_command(program, "eval", "perplexity of a text, and divergence from a second model", plan,
                  [state] { return run(*state); });
  add_positional(command, "TEXT", "a text file", true, [state](const auto& what, const auto& text) {
    state->text = existing_text(what, text);
  });
  add_file_options(command, state->model);
  add_template_option(command, state->model);
  add_compute_options(command, state->model);
  add_count(command, {"--window", "tokens of one pass", "512"}, {2, kMaxWindow}, state->window);
  add_count(command, {"--stride", "tokens from one pass to the next", "the window"},
            {1, kMaxWindow}, state->stride);
  add_input_file(command,
                 {"--against-model", "a model file to measure the divergence from", "none"},
                 state->against_model);
  add_choice<model::KvCacheType>(
      command, {"--against-kv-type", "a cache type to measure the divergence from", "none"},
      kv_types(), state->against_kv_type);
  add_switch(command, {"--json", "as JSON", "off"}, [state](bool on) { state->json = on; });
}

}  // namespace smol::app
