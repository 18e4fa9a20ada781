// The tokenizer and the template of the demo model, which is part of the project.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "chat/message.h"
#include "chat/prompt_builder.h"
#include "gguf/file.h"
#include "support/demo_model.h"
#include "text/tokenizer.h"

namespace smol::chat {

class DemoChat {
 public:
  DemoChat()
      : file_(gguf::File::open(test::kDemoModel)),
        tokenizer(text::Tokenizer::from_gguf(file_)),
        builder(file_.metadata().string("tokenizer.chat_template").value(), tokenizer) {}

 private:
  gguf::File file_;

 public:
  text::Tokenizer tokenizer;
  PromptBuilder builder;
};

inline const DemoChat& demo_chat() {
  static const DemoChat kChat;
  return kChat;
}

inline Message message(Role role, std::string content) {
  Message out;
  out.role = role;
  out.content = std::move(content);
  return out;
}

inline PromptOptions fixed_options() {
  PromptOptions options;
  options.now.tm_year = 126;
  options.now.tm_mon = 10;
  options.now.tm_mday = 27;
  return options;
}

// The ids of added tokens among `ids`, as text.
inline std::vector<std::string> added_tokens(const text::Tokenizer& tokenizer,
                                             const std::vector<TokenId>& ids) {
  std::vector<std::string> out;
  for (const TokenId id : ids) {
    if (tokenizer.is_added(id)) {
      out.emplace_back(tokenizer.bytes_of(id));
    }
  }
  return out;
}

}  // namespace smol::chat
