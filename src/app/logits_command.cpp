// `smolbot logits`: what the model says after each of the given tokens.
#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "app/all_logits.h"
#include "app/commands.h"
#include "app/console.h"
#include "app/flags.h"
#include "app/model_choice.h"
#include "app/npy.h"
#include "app/open_model.h"
#include "app/options.h"
#include "app/output_rules.h"
#include "app/pieces.h"
#include "app/progress.h"
#include "base/error.h"

namespace smol::app {

namespace {

struct LogitsCommand {
  ModelOptions model;
  std::vector<TokenId> ids;
  std::optional<std::filesystem::path> npy;
  bool force = false;
};

OutputRules npy_rules(const LogitsCommand& command, const std::filesystem::path& model) {
  std::vector<std::filesystem::path> inputs{model};
  if (command.model.tokenizer) {
    inputs.push_back(*command.model.tokenizer);
  }
  return output_rules(*command.npy, command.force, inputs);
}

void write_npy(model::Decoder& decoder, const LogitsCommand& command, const OutputRules& rules) {
  NpyWriter writer{*command.npy, rules, command.ids.size(), decoder.config().vocab_size};
  Progress progress{"computing"};
  for_each_logits(decoder, command.ids, [&](std::size_t position, std::span<const float> logits) {
    writer.write_row(logits);
    progress.update(position + 1, command.ids.size());
  });
  writer.finish();
}

// The likeliest next tokens after the last one.
std::string next_tokens(std::span<const float> logits, const text::Tokenizer& tokenizer) {
  constexpr std::size_t kShown = 20;
  std::vector<std::size_t> order(logits.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const std::size_t shown = std::min(kShown, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown), order.end(),
                    [&logits](std::size_t a, std::size_t b) {
                      return logits[a] != logits[b] ? logits[a] > logits[b] : a < b;
                    });
  std::string out;
  for (std::size_t i = 0; i < shown; ++i) {
    const auto id = static_cast<TokenId>(order[i]);
    out += fmt::format("{:>7}  {:>12.6f}  {}\n", id, logits[order[i]],
                       shown_piece(tokenizer.bytes_of(id)));
  }
  return out;
}

int run(const LogitsCommand& command) {
  if (command.ids.empty()) {
    throw Error{ErrorCode::BadInput, "logits: --ids: expected token ids, found none"};
  }
  const ModelChoice choice = choose_model_and_tell(command.model.model);
  const OutputRules rules = command.npy ? npy_rules(command, choice.path) : OutputRules{};
  Runtime runtime{choice.path, command.model, std::nullopt, {.max_batch = kAllLogitsBatch}};
  check_fits("--ids", command.ids.size(), *runtime.decoder);
  check_vocabulary(command.ids, runtime.weights.config().vocab_size);
  if (command.npy) {
    write_npy(*runtime.decoder, command, rules);
    return 0;
  }
  const text::Tokenizer tokenizer = open_tokenizer(runtime.file, command.model);
  for_each_logits(*runtime.decoder, command.ids,
                  [&](std::size_t position, std::span<const float> logits) {
                    if (position + 1 == command.ids.size()) {
                      print(next_tokens(logits, tokenizer));
                    }
                  });
  return 0;
}

}  // namespace

void add_logits_command(CLI::App& program, Plan& plan) {
  auto state = std::make_shared<LogitsCommand>();
  CLI::App& command = add_command(program, "logits", "shows the logits after given token ids", plan,
                                  [state] { return run(*state); });
  add_file_options(command, state->model);
  add_template_option(command, state->model);
  add_compute_options(command, state->model);
  add_value(command, {"--ids", "the token ids, as in 1,2,3", "none: they must be given", "logits"},
            "IDS",
            [state](const auto& what, const auto& text) { state->ids = parse_ids(what, text); });
  add_path(command,
           {"--npy", "writes float32 [n_tokens, vocab_size] of all positions to this file",
            "none: shows the likeliest next tokens"},
           state->npy);
  add_force_option(command, state->force);
}

}  // namespace smol::app
