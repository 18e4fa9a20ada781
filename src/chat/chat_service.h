// The assistant that computes: turns over an engine.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "chat/answer_form.h"
#include "chat/assistant.h"
#include "chat/prompt_builder.h"
#include "chat/tag.h"
#include "engine/engine.h"

namespace smol::chat {

// Any thread. Builder, its tokenizer and the engine must outlive it and its turns.
class ChatService final : public Assistant {
 public:
  // `facts.vocab_size` is the model's.
  ChatService(const PromptBuilder& builder, engine::Engine& engine, ModelFacts facts);

  const ModelFacts& model() const noexcept override { return facts_; }

  const PromptBuilder& builder() const noexcept override { return builder_; }

  std::shared_ptr<Turn> start(TurnRequest request, std::shared_ptr<TurnSink> sink) override;
  std::vector<float> embed(std::span<const TokenId> ids, const std::stop_token& stop) override;
  std::size_t reusable(std::span<const TokenId> prompt) const override;
  AssistantStats stats() const override;
  std::optional<std::size_t> save_cache(const std::filesystem::path& path,
                                        const engine::CacheWish& wish) override;
  std::size_t restore_cache(const std::filesystem::path& path,
                            std::span<const engine::OwnedPrompt> prompts) override;
  void forget(const std::string& owner) override;

 private:
  const PromptBuilder& builder_;
  engine::Engine& engine_;
  ModelFacts facts_;
  TagTokens tags_;
  AnswerForms forms_;
};

}  // namespace smol::chat
