// How POST /v1/chat/completions writes its answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "server/turn_group.h"

namespace smol::server {

// What all chunks of an answer repeat.
struct AnswerHead {
  std::string id;
  std::int64_t created = 0;  // seconds since 1970
  std::string model;
};

AnswerHead new_answer_head(std::string_view id_prefix, const chat::ModelFacts& model);

struct ChatFormatOptions {
  bool logprobs = false;
  bool include_usage = false;
};

class ChatFormat : public AnswerFormat {
 public:
  ChatFormat(AnswerHead head, ChatFormatOptions options)
      : head_(std::move(head)), options_(options) {}

  Json opening(std::size_t index) const override;
  Json delta(std::size_t index, Choice& choice, const chat::AnswerEvent& event) const override;
  Json closing(std::size_t index, Choice& choice) const override;
  Json usage(std::span<const chat::TurnUsage> answers) const override;
  Json whole(std::span<const Choice> choices) const override;

 private:
  Json chunk(Json choices) const;
  Json chunk_of(std::size_t index, Json delta, Choice* choice, const Json& finish_reason) const;

  AnswerHead head_;
  ChatFormatOptions options_;
};

}  // namespace smol::server
