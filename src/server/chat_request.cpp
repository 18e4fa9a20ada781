#include "server/chat_request.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/json.h"

namespace smol::server {
namespace {

constexpr std::size_t kMostMessages = 16384;
constexpr std::size_t kMostTools = 128;
constexpr std::uint64_t kMostBudget = 1UL << 24U;
constexpr std::size_t kMostGrammarBytes = 1UL << 20U;

// reasoning_effort: whether to think, and the most tokens of it.
struct Effort {
  std::string_view name;
  bool thinks;
  std::optional<std::size_t> budget;
};

const std::vector<Effort>& efforts() {
  static const std::vector<Effort> kEfforts{{"none", false, std::nullopt},
                                            {"minimal", true, 512},
                                            {"low", true, 512},
                                            {"medium", true, 2048},
                                            {"high", true, std::nullopt}};
  return kEfforts;
}

const Effort* read_effort(const Fields& fields) {
  std::vector<std::string_view> names;
  for (const Effort& effort : efforts()) {
    names.push_back(effort.name);
  }
  const auto index = fields.choice("reasoning_effort", names);
  return index ? &efforts()[*index] : nullptr;
}

// OpenAI wants content in every message but an assistant's that calls tools.
void check_content(const Json& message, const std::string& path) {
  if (!message.is_object() || !message.contains("role")) {
    return;  // the reader of messages says it better
  }
  const bool may_lack = message["role"] == "assistant";
  if (!may_lack && (!message.contains("content") || message["content"].is_null())) {
    throw Error{ErrorCode::BadInput,
                path + ".content: expected a string or a list of text parts, found none"};
  }
}

std::vector<chat::Message> read_messages(const Fields& fields) {
  const Json* list = fields.list("messages", kMostMessages);
  if (list == nullptr) {
    fields.miss("messages", "a list of messages");
  }
  if (list->empty()) {
    fields.miss("messages", "at least one message");
  }
  const std::string path = fields.path_of("messages");
  for (std::size_t i = 0; i < list->size(); ++i) {
    check_content((*list)[i], joined_path(path, i));
  }
  return chat::messages_from_json(*list, path);
}

// What the tool_choice of a request comes to.
struct ToolWish {
  bool offers = true;
  std::optional<chat::ToolCallRequired> required;
};

bool is_named(const chat::ToolSpec& tool, const std::string& name) {
  const Json& function = tool.contains("function") ? tool["function"] : tool;
  return function["name"] == name;
}

ToolWish read_tool_choice(const Fields& fields, const std::vector<chat::ToolSpec>& tools) {
  ToolWish wish;
  const Json* choice = fields.find("tool_choice");
  if (choice == nullptr) {
    return wish;
  }
  if (choice->is_object()) {
    const Fields members(*choice, fields.path_of("tool_choice"));
    members.choice("type", {"function"});
    const Json* function = members.object("function");
    if (function == nullptr) {
      members.miss("function", "an object with the function's name");
    }
    const Fields named(*function, members.path_of("function"));
    const auto name = named.text("name");
    const bool is_offered = name && std::ranges::any_of(tools, [&](const chat::ToolSpec& tool) {
                              return is_named(tool, *name);
                            });
    if (!is_offered) {
      refuse(named.path_of("name"), "the name of one of the tools",
             name ? Json(*name) : Json(nullptr));
    }
    wish.required = chat::ToolCallRequired{name};
    return wish;
  }
  const auto index = fields.choice("tool_choice", {"none", "auto", "required"});
  wish.offers = index != 0U;
  if (index == 2U) {
    if (tools.empty()) {
      refuse(fields.path_of("tool_choice"), "none or auto where there are no tools", *choice);
    }
    wish.required = chat::ToolCallRequired{};
  }
  return wish;
}

chat::AnswerForm read_response_format(const Fields& fields) {
  const Json* format = fields.object("response_format");
  if (format == nullptr) {
    return {};
  }
  const Fields members(*format, fields.path_of("response_format"));
  const auto type = members.choice("type", {"text", "json_object", "json_schema"});
  if (!type) {
    members.miss("type", "text, json_object or json_schema");
  }
  if (*type == 0) {
    return {};
  }
  if (*type == 1) {
    return chat::AnyJsonObject{};
  }
  const Json* described = members.object("json_schema");
  if (described == nullptr) {
    members.miss("json_schema", "an object with name and schema");
  }
  const Fields schema(*described, members.path_of("json_schema"));
  if (!schema.text("name")) {
    schema.miss("name", "a string");
  }
  schema.boolean("strict");
  schema.text("description");
  const Json* value = schema.find("schema");
  if (value != nullptr && !value->is_object() && !value->is_boolean()) {
    refuse(schema.path_of("schema"), "a JSON schema (an object, true or false)", *value);
  }
  return chat::JsonSchema{value == nullptr ? Json(true) : *value};
}

// At most one of grammar, response_format and a required tool call holds the answer.
chat::AnswerForm read_form(const Fields& fields,
                           const std::optional<chat::ToolCallRequired>& required) {
  chat::AnswerForm form = read_response_format(fields);
  const auto grammar = fields.text("grammar", kMostGrammarBytes);
  const int n_forms = (form.index() != 0 ? 1 : 0) + (grammar ? 1 : 0) + (required ? 1 : 0);
  if (n_forms > 1) {
    const std::string_view extra = grammar ? "grammar" : "tool_choice";
    refuse(fields.path_of(extra), "one of grammar, response_format and a required tool call",
           Json("more than one"));
  }
  if (grammar) {
    return chat::Grammar{*grammar};
  }
  return required ? chat::AnswerForm(*required) : form;
}

void read_logprobs(const Fields& fields, chat::AnswerOptions& options) {
  const bool wants = fields.boolean("logprobs").value_or(false);
  const auto top = fields.count("top_logprobs", {0, kMostTopLogprobs});
  if (top && !wants) {
    refuse(fields.path_of("top_logprobs"), "none unless logprobs is true", Json(*top));
  }
  if (wants) {
    options.top_logprobs = top.value_or(0);
  }
}

// A limit leaves room for the answer: half of it, where the request names no budget itself.
std::optional<std::size_t> thinking_budget(const Fields& fields, std::size_t max_tokens) {
  if (const auto budget = fields.count("thinking_budget_tokens", {0, kMostBudget})) {
    return *budget;
  }
  const Effort* effort = read_effort(fields);
  auto budget = effort == nullptr ? std::nullopt : effort->budget;
  if (max_tokens != 0) {
    budget = std::min(budget.value_or(max_tokens), max_tokens / 2);
  }
  return budget;
}

void read_template_options(const Fields& fields, chat::PromptOptions& options) {
  if (const Effort* effort = read_effort(fields)) {
    options.think = effort->thinks ? chat::ThinkMode::On : chat::ThinkMode::Off;
  }
  const Json* extra = fields.object("chat_template_kwargs");
  if (extra == nullptr) {
    return;
  }
  options.extra = *extra;
  const Fields members(*extra, fields.path_of("chat_template_kwargs"));
  if (const auto thinks = members.boolean("enable_thinking")) {
    options.think = *thinks ? chat::ThinkMode::On : chat::ThinkMode::Off;
  }
}

std::vector<chat::ToolSpec> read_tools(const Fields& fields) {
  const Json* tools = fields.list("tools", kMostTools);
  return tools == nullptr ? std::vector<chat::ToolSpec>{}
                          : chat::tools_from_json(*tools, fields.path_of("tools"));
}

}  // namespace

ChatPrompt read_chat_prompt(const Json& body, const chat::ModelFacts& model) {
  const Fields fields(body, "");
  check_model(fields, model);
  ChatPrompt prompt;
  prompt.messages = read_messages(fields);
  prompt.options.tools = read_tools(fields);
  if (!read_tool_choice(fields, prompt.options.tools).offers) {
    prompt.options.tools.clear();
  }
  prompt.options.now = chat::local_now();
  prompt.options.add_generation_prompt = fields.boolean("add_generation_prompt").value_or(true);
  read_template_options(fields, prompt.options);
  return prompt;
}

ChatRequest read_chat_request(const Json& body, const chat::ModelFacts& model) {
  const Fields fields(body, "");
  ChatRequest request;
  request.prompt = read_chat_prompt(body, model);
  request.wish = read_answer_wish(fields, model);
  fields.boolean("parallel_tool_calls");
  chat::AnswerOptions& options = request.wish.options;
  read_logprobs(fields, options);
  options.form = read_form(fields, read_tool_choice(fields, request.prompt.options.tools).required);
  options.thinking_budget = thinking_budget(fields, options.max_tokens);
  return request;
}

}  // namespace smol::server
