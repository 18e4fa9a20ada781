#include "conformance/parse_support.h"

#include <algorithm>

namespace smol::conformance {

chat::OutputMode mode_of(const Json& mode) {
  chat::OutputMode out;
  out.tools = mode.value("tools", false);
  out.python_tools = mode.value("python_tools", false);
  out.reasoning_open = mode.value("reasoning_open", false);
  return out;
}

std::vector<chat::Piece> pieces_of(std::string_view raw) {
  std::vector<chat::Piece> out;
  const auto is_tag_at_start = [&](std::string_view tag) {
    return raw.substr(0, tag.size()) == tag;
  };
  while (!raw.empty()) {
    const auto tag = std::ranges::find_if(chat::kTagTexts, is_tag_at_start);
    if (tag != chat::kTagTexts.end()) {
      out.push_back({std::string(*tag), true});
      raw.remove_prefix(tag->size());
      continue;
    }
    if (out.empty() || out.back().is_tag) {
      out.emplace_back();
    }
    out.back().text += raw.front();
    raw.remove_prefix(1);
  }
  return out;
}

Json result_of(const chat::ParsedOutput& output, const std::string& stop) {
  Json calls = Json::array();
  for (const chat::ToolCall& call : output.tool_calls) {
    calls.push_back({{"name", call.name}, {"arguments", parse_json(call.arguments, call.name)}});
  }
  const bool has_calls = !calls.empty() && stop == "stop";
  return {{"reasoning_content", output.reasoning.empty() ? Json() : Json(output.reasoning)},
          {"content", output.content_is_null() ? Json() : Json(output.content)},
          {"tool_calls", std::move(calls)},
          {"code_blocks", output.code_blocks},
          {"finish_reason", has_calls ? "tool_calls" : stop}};
}

}  // namespace smol::conformance
