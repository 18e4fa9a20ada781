// How POST /v1/completions writes its answers.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/chat_format.h"
#include "server/turn_group.h"

namespace smol::server {

struct CompletionFormatOptions {
  bool logprobs = false;
  bool include_usage = false;
  std::size_t n = 1;                     // answers to each prompt
  std::vector<std::string> echoes = {};  // what each answer begins with; none: nothing
};

class CompletionFormat : public AnswerFormat {
 public:
  CompletionFormat(AnswerHead head, CompletionFormatOptions options)
      : head_(std::move(head)), options_(std::move(options)) {}

  Json opening(std::size_t index) const override;
  Json delta(std::size_t index, Choice& choice, const chat::AnswerEvent& event) const override;
  Json closing(std::size_t index, Choice& choice) const override;
  Json usage(std::span<const chat::TurnUsage> answers) const override;
  Json whole(std::span<const Choice> choices) const override;

 private:
  Json chunk(Json choices) const;
  Json chunk_of(std::size_t index, std::string_view text, Choice* choice,
                const Json& finish_reason) const;
  std::string echo_of(std::size_t index) const;

  AnswerHead head_;
  CompletionFormatOptions options_;
};

}  // namespace smol::server
