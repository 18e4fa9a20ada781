#include "server/prompts.h"

#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "base/json.h"
#include "jinja/error.h"

namespace smol::server {
namespace {

chat::Prompt told_as_messages(const std::function<chat::Prompt()>& build) {
  try {
    return build();
  } catch (const jinja::TemplateError& error) {
    throw Error{ErrorCode::BadInput,
                "messages: expected what the model's template takes, found: " + error.message()};
  }
}

// The field of `body` that a form of the answer came from.
std::string form_field(const Json& body, std::string_view prompt_field) {
  const auto format = body.find("response_format");
  if (format != body.end() && format->is_object() && format->contains("json_schema")) {
    return "response_format.json_schema.schema";
  }
  for (const char* field : {"grammar", "tools"}) {
    if (body.contains(field) && !body[field].is_null()) {
      return field;
    }
  }
  return std::string(prompt_field);
}

}  // namespace

chat::Prompt build_prompt(const chat::PromptBuilder& builder, const ChatPrompt& prompt) {
  return told_as_messages([&] { return builder.build(prompt.messages, prompt.options); });
}

chat::Prompt render_prompt(const chat::PromptBuilder& builder, const ChatPrompt& prompt) {
  return told_as_messages([&] { return builder.render(prompt.messages, prompt.options); });
}

chat::Prompt raw_prompt(const text::Tokenizer& tokenizer, const RawInput& input) {
  chat::Prompt prompt;
  if (const auto* text = std::get_if<std::string>(&input)) {
    prompt.text = jinja::MarkedString(*text, jinja::Origin::Template);
    prompt.ids = tokenizer.encode(*text);
    return prompt;
  }
  prompt.ids = std::get<std::vector<TokenId>>(input);
  prompt.text = jinja::MarkedString(tokenizer.decode(prompt.ids, false), jinja::Origin::Template);
  return prompt;
}

ApiError turn_error(const Error& error, const Json& body, std::string_view prompt_field) {
  ApiError out = api_error_of(error);
  if (out.status != 400) {
    return out;
  }
  const std::string named = out.param.value_or("");
  if (body.contains(named.substr(0, named.find_first_of(".["))) && named != "prompt") {
    return out;
  }
  const bool is_prompt = named == "prompt" || named.empty();
  out.param = is_prompt ? std::string(prompt_field) : form_field(body, prompt_field);
  if (out.message.find("(the context)") != std::string::npos) {
    out.code = "context_length_exceeded";
  }
  return out;
}

}  // namespace smol::server
