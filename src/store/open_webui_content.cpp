#include "store/open_webui_content.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/json.h"

namespace smol::store {
namespace {

// --- `output`: items as OpenAI's Responses API has them

std::string joined_texts(const Field& item, const char* key) {
  std::string out;
  const auto list = item.find(key);
  if (list && list->is_list()) {
    list->each([&](const Field& part) { out += part.text("text"); });
  }
  return out;
}

void add_item(const Field& item, std::vector<Part>& parts) {
  const std::string type = item.text("type");
  if (type == "message") {
    if (std::string text = joined_texts(item, "content"); !text.empty()) {
      parts.emplace_back(TextPart{std::move(text)});
    }
  } else if (type == "reasoning") {
    std::string text = joined_texts(item, "summary");
    text = text.empty() ? joined_texts(item, "content") : text;
    parts.emplace_back(
        ThinkingPart{std::move(text), 0, Milliseconds(item.figure("duration") * 1000)});
  } else if (type == "function_call") {
    const auto arguments = item.find("arguments");
    parts.emplace_back(ToolPart{item.text("call_id"), item.at("name").text(),
                                arguments ? call_arguments(*arguments) : "{}", ToolState::Done, "",
                                std::nullopt});
  } else if (type == "function_call_output") {
    const std::string id = item.text("call_id");
    for (Part& part : parts) {
      auto* call = std::get_if<ToolPart>(&part);
      if (call != nullptr && call->call_id == id) {
        call->result = joined_texts(item, "output");
      }
    }
  }
}

// --- `content` with <details>

struct Details {
  std::string_view attributes;
  std::string_view inside;
  std::size_t begin = 0, end = 0;
};

constexpr std::string_view kOpen = "<details type=\"";
constexpr std::string_view kClose = "</details>";

std::optional<Details> find_details(std::string_view text, std::size_t from) {
  const std::size_t begin = text.find(kOpen, from);
  const std::size_t tag_end = begin == text.npos ? begin : text.find('>', begin);
  const std::size_t close = tag_end == text.npos ? tag_end : text.find(kClose, tag_end);
  if (close == text.npos) {
    return std::nullopt;
  }
  return Details{text.substr(begin, tag_end - begin), text.substr(tag_end + 1, close - tag_end - 1),
                 begin, close + kClose.size()};
}

std::string without_entities(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, char>, 6> kEntities{{{"&quot;", '"'},
                                                                        {"&#x27;", '\''},
                                                                        {"&#39;", '\''},
                                                                        {"&lt;", '<'},
                                                                        {"&gt;", '>'},
                                                                        {"&amp;", '&'}}};
  std::string out;
  while (!text.empty()) {
    const auto* found = std::ranges::find_if(
        kEntities, [&](const auto& entity) { return text.starts_with(entity.first); });
    out += found == kEntities.end() ? text.front() : found->second;
    text.remove_prefix(found == kEntities.end() ? 1 : found->first.size());
  }
  return out;
}

std::string attribute(std::string_view tag, std::string_view name) {
  const std::string key = " " + std::string(name) + "=\"";
  const std::size_t begin = tag.find(key);
  if (begin == tag.npos) {
    return "";
  }
  tag.remove_prefix(begin + key.size());
  return without_entities(tag.substr(0, tag.find('"')));
}

// A quoted block ("> line") without its summary.
std::string unquoted(std::string_view text) {
  constexpr std::string_view kSummaryEnd = "</summary>";
  const std::size_t summary = text.find(kSummaryEnd);
  text.remove_prefix(summary == text.npos ? 0 : summary + kSummaryEnd.size());
  std::string out;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    line.remove_prefix(line.starts_with("> ") ? 2 : line.starts_with('>') ? 1 : 0);
    if (!line.empty() || !out.empty()) {
      out += std::string(line) + "\n";
    }
  }
  out.erase(out.find_last_not_of('\n') + 1);
  return without_entities(out);
}

Milliseconds seconds_of(const std::string& text) {
  std::int64_t seconds = 0;
  for (const char c : text) {
    if (c < '0' || c > '9' || seconds > 1'000'000) {
      break;
    }
    seconds = seconds * 10 + (c - '0');
  }
  return Milliseconds(seconds * 1000);
}

// The part that a block stands for; nothing: it is text like any other.
std::optional<Part> part_of(const Details& details) {
  if (details.attributes.starts_with("<details type=\"reasoning\"")) {
    return ThinkingPart{unquoted(details.inside), 0,
                        seconds_of(attribute(details.attributes, "duration"))};
  }
  if (details.attributes.starts_with("<details type=\"tool_calls\"")) {
    return ToolPart{
        attribute(details.attributes, "id"),        attribute(details.attributes, "name"),
        attribute(details.attributes, "arguments"), ToolState::Done,
        attribute(details.attributes, "result"),    std::nullopt};
  }
  return std::nullopt;
}

void add_text(std::string_view text, std::vector<Part>& parts) {
  const std::size_t begin = text.find_first_not_of('\n');
  if (begin != text.npos) {
    parts.emplace_back(
        TextPart{std::string(text.substr(begin, text.find_last_not_of('\n') + 1 - begin))});
  }
}

std::vector<Part> parts_of_content(std::string_view text) {
  std::vector<Part> parts;
  std::size_t taken = 0;
  std::size_t at = 0;
  while (const auto details = find_details(text, at)) {
    at = details->end;
    if (auto part = part_of(*details)) {
      add_text(text.substr(taken, details->begin - taken), parts);
      parts.push_back(*std::move(part));
      taken = details->end;
    }
  }
  add_text(text.substr(taken), parts);
  return parts;
}

}  // namespace

std::string open_webui_text(const Field& message) {
  const auto content = message.find("content");
  if (!content) {
    return "";
  }
  return content->is_list() ? joined_texts(message, "content") : content->text();
}

std::vector<Part> open_webui_parts(const Field& message, const ImportJob& job) {
  std::vector<Part> parts;
  const auto output = message.find("output");
  if (output && output->is_list()) {
    check_items(*output, job);
    output->each([&](const Field& item) { add_item(item, parts); });
  }
  return parts.empty() ? parts_of_content(open_webui_text(message)) : parts;
}

}  // namespace smol::store
