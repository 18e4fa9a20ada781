#include "app/read_ahead.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <variant>

#include "app/console.h"
#include "app/program.h"
#include "app/progress.h"
#include "app/text_message.h"
#include "base/error.h"
#include "base/mailbox.h"

namespace smol::app {

namespace {

using News = std::variant<engine::Progress, engine::Result, Error>;

class MailSink final : public engine::Sink {
 public:
  void on_progress(const engine::Progress& progress) noexcept override { mail.push(progress); }

  bool on_token(const engine::Token& /*token*/) noexcept override { return true; }

  void on_finished(const engine::Result& result) noexcept override { mail.push(result); }

  void on_failed(const Error& error) noexcept override { mail.push(error); }

  Mailbox<News> mail;
};

std::vector<TokenId> common_beginning(const std::vector<TokenId>& a,
                                      const std::vector<TokenId>& b) {
  return {a.begin(), std::ranges::mismatch(a, b).in1};
}

void read(engine::Engine& engine, const std::vector<TokenId>& prompt, const std::stop_token& stop) {
  engine::Request request;
  request.task = engine::Task::Read;
  request.prompt = prompt;
  const auto sink = std::make_shared<MailSink>();
  const auto ticket = engine.submit(std::move(request), sink);
  const std::stop_callback cancel(stop, [&ticket] { ticket->cancel(); });
  Progress bar{"reading the system prompt"};
  while (true) {
    const News news = sink->mail.pop();
    if (const auto* progress = std::get_if<engine::Progress>(&news)) {
      bar.update(progress->read_tokens, progress->prompt_tokens);
    } else if (const auto* error = std::get_if<Error>(&news)) {
      throw *error;
    } else {
      return;
    }
  }
}

}  // namespace

std::vector<std::vector<TokenId>> shared_beginnings(const chat::PromptBuilder& builder) {
  std::vector<std::vector<TokenId>> found;
  chat::PromptOptions options;
  options.now = chat::local_now();
  const auto ids_with = [&](const char* text) {
    const chat::Message message = text_message(chat::Role::User, text);
    return builder.build({&message, 1}, options).ids;
  };
  for (const chat::ThinkMode think : {chat::ThinkMode::Default, chat::ThinkMode::Off}) {
    options.think = think;
    try {
      std::vector<TokenId> ids = common_beginning(ids_with("Hello"), ids_with("1"));
      if (!ids.empty() && std::ranges::find(found, ids) == found.end()) {
        found.push_back(std::move(ids));
      }
    } catch (const Error&) {
      // Whoever chats gets to know it; programs may do without the template.
      return {};
    }
  }
  return found;
}

void read_ahead(engine::Engine& engine, std::span<const std::vector<TokenId>> prompts,
                const std::filesystem::path& file, const std::stop_token& stop) {
  try {
    engine.restore_cache(file);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::NotFound) {
      note(error_line(std::string(error.what()) + "; prompts are read anew"));
    }
  }
  for (const std::vector<TokenId>& prompt : prompts) {
    if (!stop.stop_requested() && prompt.size() <= engine.context()) {
      read(engine, prompt, stop);
    }
  }
}

void keep_for_next_run(engine::Engine& engine, std::span<const std::vector<TokenId>> prompts,
                       const std::filesystem::path& file, engine::CacheWish wish) {
  std::vector<engine::OwnedPrompt> ours;
  for (const std::vector<TokenId>& prompt : prompts) {
    ours.push_back({"", prompt});
  }
  wish.prompts = ours;
  try {
    if (!engine.save_cache(file, wish)) {
      note(file.string() + ": was not written, since the time for the end is over");
    }
  } catch (const Error& error) {
    note(error_line(error.what()));
  }
}

}  // namespace smol::app
