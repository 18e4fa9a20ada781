// The way of one answer from tokens to events: tags and whole characters, stop strings, parser. It
// also ends the thinking, and holds the answer behind it to its form.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "chat/assistant.h"
#include "chat/scored_text.h"
#include "chat/stop_strings.h"
#include "chat/tag.h"
#include "chat/written.h"
#include "engine/request.h"
#include "engine/token_constraint.h"
#include "text/stream_decoder.h"
#include "text/tokenizer.h"

namespace smol::chat {

TurnEnd end_of(engine::FinishReason reason) noexcept;

// The engine's thread, but for answer_now() and progress().
class RunningTurn final : public engine::Sink, public engine::TokenConstraint {
 public:
  // `form`: what the answer is held to, over the model's `vocab_size`; nullptr: nothing. With one,
  // the turn does not end among the thoughts. Throws Error{BadInput} for bad stop strings.
  // Tokenizer and tags must outlive it.
  RunningTurn(const text::Tokenizer& tokenizer, const TagTokens& tags, const TurnRequest& request,
              std::unique_ptr<engine::TokenConstraint> form, std::size_t vocab_size,
              std::shared_ptr<TurnSink> sink);

  // Any thread.
  void answer_now() noexcept { answer_now_.store(true, std::memory_order_relaxed); }

  // The engine's progress in the words of a turn. Any thread.
  TurnProgress progress(const engine::Progress& progress) const noexcept;

  void on_progress(const engine::Progress& progress) noexcept override;
  bool on_token(const engine::Token& token) noexcept override;
  void on_finished(const engine::Result& result) noexcept override;
  void on_failed(const Error& error) noexcept override;

  std::optional<TokenId> forced() override;
  std::span<const std::uint64_t> mask(std::size_t tokens_left) override;
  void accept(TokenId token) override;
  bool must_end() const override;

 private:
  // Where the next token stands, by tokens: Start allows <think> or the answer.
  enum class Place { Start, Thoughts, Answer };

  bool must_end_thoughts() const noexcept;
  std::span<const std::uint64_t> mask_of_thoughts();
  bool is_text(Tag tag) const noexcept;
  void push(Piece piece);
  void parse(const std::vector<Piece>& pieces);
  void emit(std::vector<OutputEvent> events);
  void send_scores(const OutputEvent& event);
  TokenScore score_of(TokenId id, const engine::TokenScores& scores) const;
  TurnFinished finished_with(const engine::Result& result) const;

  const text::Tokenizer& tokenizer_;
  const TagTokens& tags_;
  std::shared_ptr<TurnSink> sink_;  // until the turn has ended
  std::unique_ptr<engine::TokenConstraint> form_;
  std::size_t vocab_size_;
  std::optional<std::size_t> thinking_budget_;
  std::vector<TokenId> closing_;  // what ends the thoughts
  std::size_t n_closed_ = 0;      // of these, put in
  Place place_ = Place::Answer;
  std::vector<std::uint64_t> first_mask_;
  std::vector<std::uint64_t> thoughts_mask_;  // once it was needed

  text::StreamDecoder decoder_;
  StopStrings stops_;
  TagSet meant_tags_;  // behind the thoughts
  WrittenAnswer written_;
  ScoredText scored_;
  std::size_t n_calls_;  // of the conversation
  engine::Progress progress_;

  std::atomic<bool> answer_now_{false};
  std::atomic<bool> in_reasoning_{false};
  std::atomic<std::size_t> n_tokens_{0}, n_reasoning_{0};
};

}  // namespace smol::chat
