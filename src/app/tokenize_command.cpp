// `smolbot tokenize`: text -> ids and pieces, or ids -> text.
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/all_logits.h"
#include "app/commands.h"
#include "app/console.h"
#include "app/flags.h"
#include "app/model_choice.h"
#include "app/open_model.h"
#include "app/options.h"
#include "app/pieces.h"
#include "app/text_input.h"
#include "base/error.h"
#include "base/json.h"

namespace smol::app {

namespace {

enum class OutputForm { Text, Ids, Json };

struct TokenizeCommand {
  ModelOptions model;
  std::optional<std::string> text;
  std::optional<std::vector<TokenId>> ids;
  text::AddedTokens mode = text::AddedTokens::All;
  OutputForm form = OutputForm::Text;
};

text::Tokenizer tokenizer_for(const ModelOptions& options) {
  if (options.tokenizer) {
    return text::Tokenizer::open(*options.tokenizer);
  }
  const ModelChoice choice = choose_model_and_tell(options.model);
  return open_tokenizer(gguf::File::open(choice.path), options);
}

std::string as_lines(const text::Tokenizer& tokenizer, std::span<const TokenId> ids) {
  std::string out;
  for (const TokenId id : ids) {
    out += fmt::format("{:>7}  {}\n", id, shown_piece(tokenizer.bytes_of(id)));
  }
  return out;
}

std::string as_json(const text::Tokenizer& tokenizer, std::span<const TokenId> ids) {
  Json tokens = Json::array();
  for (const TokenId id : ids) {
    tokens.push_back({{"id", id}, {"piece", shown_piece(tokenizer.bytes_of(id))}});
  }
  return tokens.dump() + "\n";
}

int run(const TokenizeCommand& command) {
  if (command.ids && command.text) {
    throw Error{ErrorCode::BadInput, "tokenize: expected TEXT or --ids, found both"};
  }
  const text::Tokenizer tokenizer = tokenizer_for(command.model);
  if (command.ids) {
    check_vocabulary(*command.ids, tokenizer.vocab_size());
    print_text(tokenizer.decode(*command.ids, false) + "\n");
    return 0;
  }
  const std::string text = command.text ? *command.text : read_standard_input(kMostEvalBytes);
  const std::vector<TokenId> ids = tokenizer.encode(text, command.mode);
  switch (command.form) {
    case OutputForm::Text:
      print(as_lines(tokenizer, ids));
      break;
    case OutputForm::Ids:
      print(fmt::format("{}\n", fmt::join(ids, ",")));
      break;
    case OutputForm::Json:
      print(as_json(tokenizer, ids));
      break;
  }
  return 0;
}

}  // namespace

void add_tokenize_command(CLI::App& program, Plan& plan) {
  auto state = std::make_shared<TokenizeCommand>();
  CLI::App& command = add_command(program, "tokenize", "shows the ids and pieces of a text", plan,
                                  [state] { return run(*state); });
  add_positional(command, "TEXT", "the text; without it standard input is read", false,
                 [state](const auto&, const auto& text) { state->text = text; });
  add_file_options(command, state->model);
  add_choice<text::AddedTokens>(
      command, {"--added-tokens", "which added tokens are found in the text", "all"},
      {{"none", text::AddedTokens::None},
       {"non-special", text::AddedTokens::OnlyNonSpecial},
       {"all", text::AddedTokens::All}},
      state->mode);
  add_value(
      command, {"--ids", "decodes these ids, as in 1,2,3, in place of a text", "none", "tokenize"},
      "IDS", [state](const auto& what, const auto& text) { state->ids = parse_ids(what, text); });
  add_choice<OutputForm>(
      command, {"-o,--output", "form of the output", "text", "tokenize"},
      {{"text", OutputForm::Text}, {"ids", OutputForm::Ids}, {"json", OutputForm::Json}},
      state->form);
}

}  // namespace smol::app
