#include "chat/answer_form.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "base/check.h"
#include "base/error.h"
#include "base/json.h"
#include "chat/tag.h"
#include "grammar/matcher.h"

namespace smol::chat {
namespace {

using grammar::Grammar;

// Fixed tokens, then what a grammar lets through, then fixed tokens again, then the turn's end.
class FormConstraint final : public engine::TokenConstraint {
 public:
  FormConstraint(std::shared_ptr<const grammar::TokenGrammar> grammar, std::vector<TokenId> before,
                 std::vector<TokenId> behind)
      : grammar_(std::move(grammar)),
        matcher_(grammar_),
        before_(std::move(before)),
        behind_(std::move(behind)),
        mask_(grammar_->vocabulary().mask_words()) {}

  std::optional<TokenId> forced() override {
    if (n_before_ < before_.size()) {
      return before_[n_before_];
    }
    if (is_behind()) {
      return n_behind_ < behind_.size() ? std::optional(behind_[n_behind_]) : std::nullopt;
    }
    // The last token of a text that must come may be joined with what follows.
    const std::vector<TokenId> tokens = grammar_->vocabulary().longest_tokens(matcher_.forced());
    return tokens.size() > 1 ? std::optional(tokens.front()) : std::nullopt;
  }

  std::span<const std::uint64_t> mask(std::size_t tokens_left) override {
    if (n_before_ < before_.size()) {
      allow_only({&before_[n_before_], 1});
    } else if (is_behind()) {
      allow_only(n_behind_ < behind_.size() ? std::span(&behind_[n_behind_], 1)
                                            : grammar_->vocabulary().end_tokens());
    } else {
      const std::size_t reserved = behind_.size();
      matcher_.mask(mask_, tokens_left > reserved ? tokens_left - reserved : 0);
    }
    return mask_;
  }

  void accept(TokenId token) override {
    if (n_before_ < before_.size()) {
      ++n_before_;
    } else if (is_behind()) {
      ++n_behind_;
    } else {
      SMOL_CHECK(matcher_.accept(token));
    }
  }

  bool must_end() const override {
    return behind_.empty() ? matcher_.must_end() : n_behind_ == behind_.size();
  }

 private:
  static constexpr std::size_t kBits = 64;

  void allow_only(std::span<const TokenId> tokens) {
    std::ranges::fill(mask_, 0U);
    for (const TokenId id : tokens) {
      const auto bit = static_cast<std::size_t>(id);
      mask_[bit / kBits] |= std::uint64_t{1} << (bit % kBits);
    }
  }

  // What stands behind a grammar's text begins as soon as that may end.
  bool is_behind() const noexcept { return !behind_.empty() && matcher_.is_complete(); }

  std::shared_ptr<const grammar::TokenGrammar> grammar_;
  grammar::Matcher matcher_;
  std::vector<TokenId> before_, behind_;
  std::size_t n_before_ = 0, n_behind_ = 0;
  std::vector<std::uint64_t> mask_;
};

const Json& function_of(const ToolSpec& tool) {
  return tool.contains("function") ? tool["function"] : tool;
}

Json schema_of_call(const ToolSpec& tool) {
  const Json& function = function_of(tool);
  Json arguments = {{"type", "object"}};
  if (function.contains("parameters") && function["parameters"].is_object()) {
    arguments = function["parameters"];
  }
  return {{"type", "object"},
          {"properties", {{"name", {{"const", function["name"]}}}, {"arguments", arguments}}},
          {"required", {"name", "arguments"}},
          {"additionalProperties", false}};
}

Json schema_of_calls(const ToolCallRequired& required, std::span<const ToolSpec> tools) {
  Json calls = Json::array();
  for (const ToolSpec& tool : tools) {
    if (!required.name || function_of(tool)["name"] == *required.name) {
      calls.push_back(schema_of_call(tool));
    }
  }
  if (calls.empty()) {
    throw Error(ErrorCode::BadInput, "tool_choice: expected one of the tools, found " +
                                         required.name.value_or("none of them"));
  }
  return calls.size() == 1 ? calls[0] : Json{{"oneOf", calls}};
}

struct Compile {
  std::span<const ToolSpec> tools;

  std::shared_ptr<const Grammar> operator()(std::monostate /*free*/) const { return nullptr; }

  std::shared_ptr<const Grammar> operator()(const chat::Grammar& form) const {
    return grammar::compile_gbnf(form.gbnf);
  }

  std::shared_ptr<const Grammar> operator()(const JsonSchema& form) const {
    return grammar::compile_json_schema(form.schema);
  }

  std::shared_ptr<const Grammar> operator()(const AnyJsonObject& /*form*/) const {
    return grammar::any_json_object();
  }

  std::shared_ptr<const Grammar> operator()(const ToolCallRequired& form) const {
    return grammar::compile_json_schema(schema_of_calls(form, tools));
  }
};

// What is beyond the compiler's bounds stays so: it is refused, not put off as a full queue does.
std::shared_ptr<const Grammar> compile(const AnswerForm& form, std::span<const ToolSpec> tools) {
  try {
    return std::visit(Compile{tools}, form);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::Exhausted) {
      throw Error(ErrorCode::Unsupported, error.what());
    }
    throw;
  }
}

struct Key {
  std::span<const ToolSpec> tools;

  std::string operator()(std::monostate /*free*/) const { return ""; }

  std::string operator()(const chat::Grammar& form) const { return "gbnf " + form.gbnf; }

  std::string operator()(const JsonSchema& form) const { return "schema " + form.schema.dump(); }

  std::string operator()(const AnyJsonObject& /*form*/) const { return "object"; }

  std::string operator()(const ToolCallRequired& form) const {
    return "schema " + schema_of_calls(form, tools).dump();
  }
};

}  // namespace

void check(const AnswerForm& form, std::span<const ToolSpec> tools) {
  static_cast<void>(compile(form, tools));
}

std::unique_ptr<engine::TokenConstraint> AnswerForms::make(const AnswerForm& form,
                                                           std::span<const ToolSpec> tools) {
  if (std::holds_alternative<std::monostate>(form)) {
    return nullptr;
  }
  std::vector<TokenId> before;
  std::vector<TokenId> behind;
  if (std::holds_alternative<ToolCallRequired>(form)) {
    before = tokenizer_.encode(std::string(text_of(Tag::ToolCallOpen)) + "\n");
    behind = tokenizer_.encode("\n" + std::string(text_of(Tag::ToolCallClose)));
  }
  return std::make_unique<FormConstraint>(compiled(form, tools), std::move(before),
                                          std::move(behind));
}

std::shared_ptr<const grammar::TokenGrammar> AnswerForms::compiled(
    const AnswerForm& form, std::span<const ToolSpec> tools) {
  std::string key = std::visit(Key{tools}, form);
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(kept_, key, &Kept::key);
    if (found != kept_.end()) {
      kept_.splice(kept_.begin(), kept_, found);
      return kept_.front().grammar;
    }
  }
  auto grammar = std::make_shared<const grammar::TokenGrammar>(compile(form, tools), vocabulary());
  const std::lock_guard lock(mutex_);
  kept_.push_front({std::move(key), grammar});
  if (kept_.size() > kMostKept) {
    kept_.pop_back();
  }
  return grammar;
}

// Only what an answer's text can hold: no special token, no tag.
std::shared_ptr<const grammar::Vocabulary> AnswerForms::vocabulary() {
  const std::lock_guard lock(mutex_);
  if (vocabulary_ == nullptr) {
    grammar::TokenTable table;
    table.bytes.resize(vocab_size_);
    for (std::size_t i = 0; i < vocab_size_; ++i) {
      const auto id = static_cast<TokenId>(i);
      if (tokenizer_.ends_turn(id)) {
        table.end_tokens.push_back(id);
      } else if (!tokenizer_.is_added(id)) {
        table.bytes[i] = tokenizer_.bytes_of(id);
      }
    }
    vocabulary_ = std::make_shared<const grammar::Vocabulary>(table);
  }
  return vocabulary_;
}

}  // namespace smol::chat
