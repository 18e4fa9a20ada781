// LiveAnswer: what its listeners hear.
#include <algorithm>
#include <utility>

#include "page/live_answer.h"
#include "page/message_views.h"
#include "page/values.h"

namespace smol::page {
namespace {

constexpr std::chrono::milliseconds kProgressPeriod{200};

std::string_view phase_word(chat::TurnPhase phase) {
  switch (phase) {
    case chat::TurnPhase::Queued:
      return "queued";
    case chat::TurnPhase::Reading:
      return "reading";
    case chat::TurnPhase::Thinking:
      return "thinking";
    case chat::TurnPhase::Paused:
      return "paused";
    case chat::TurnPhase::Writing:
    case chat::TurnPhase::Finished:
      break;
  }
  return "writing";
}

// The text of a part; nothing for a tool's call.
const std::string* text_of(const store::Part& part) {
  if (const auto* text = std::get_if<store::TextPart>(&part)) {
    return &text->text;
  }
  const auto* thought = std::get_if<store::ThinkingPart>(&part);
  return thought == nullptr ? nullptr : &thought->text;
}

std::size_t size_of(const store::Part& part) {
  const std::string* text = text_of(part);
  return text == nullptr ? 0 : text->size();
}

Json part_data(const store::Part& part) {
  if (const auto* tool = std::get_if<store::ToolPart>(&part)) {
    return {{"kind", "tool"}, {"call", tool->call_id}, {"state", word_of(tool->state)}};
  }
  if (const auto* thought = std::get_if<store::ThinkingPart>(&part)) {
    return {{"kind", "thinking"},
            {"text", thought->text},
            {"tokens", thought->tokens},
            {"ms", thought->time.count()}};
  }
  return {{"kind", "text"}, {"text", std::get<store::TextPart>(part).text}};
}

}  // namespace

std::string LiveAnswer::id_at(std::size_t offset) const {
  return id_text(turn_.id) + "." + std::to_string(offset);
}

StreamEvent LiveAnswer::event(std::string_view name, const Json& data) const {
  Json out = {{"turn", id_text(turn_.id)}, {"message", id_text(turn_.answer)}};
  out.update(data);
  std::size_t offset = 0;
  for (const std::size_t heard : heard_) {
    offset += heard;
  }
  return {name, std::move(out), id_at(offset)};
}

std::int64_t LiveAnswer::tokens() const {
  return answer_.figures.tokens +
         static_cast<std::int64_t>(progress_.reasoning_tokens + progress_.answer_tokens);
}

Json LiveAnswer::progress_data() const {
  Json out = {{"phase", tool_phase_.empty() ? phase_word(progress_.phase) : tool_phase_}};
  if (!tool_phase_.empty()) {
    out["tool"] = tool_;
  } else if (progress_.phase == chat::TurnPhase::Queued) {
    out["ahead"] = progress_.ahead;
  } else if (progress_.phase == chat::TurnPhase::Reading) {
    out["read"] = progress_.read_tokens;
    out["total"] = progress_.prompt_tokens;
    out["left_ms"] = static_cast<std::int64_t>(progress_.read_seconds_left * 1000);
  }
  out["tokens"] = tokens();
  out["tokens_per_second"] = speed_.tokens_per_second();
  const std::size_t used =
      progress_.phase == chat::TurnPhase::Reading
          ? progress_.read_tokens
          : progress_.prompt_tokens + progress_.reasoning_tokens + progress_.answer_tokens;
  if (used > 0) {
    out["context_used"] = used;
    out["context_max"] = context_max_;
  }
  return out;
}

std::string LiveAnswer::phase() const {
  const std::lock_guard lock(mutex_);
  return tool_phase_.empty() ? std::string(phase_word(progress_.phase)) : tool_phase_;
}

// What a part holds from byte `from` on; `before`: bytes of the parts before it.
void LiveAnswer::add_text_news(std::size_t part, std::size_t from, std::size_t before,
                               std::vector<StreamEvent>& out) const {
  const std::string* text = text_of(answer_.parts[part]);
  if (text == nullptr || from >= text->size()) {
    return;
  }
  Json data = {{"turn", id_text(turn_.id)},
               {"message", id_text(turn_.answer)},
               {"part", part},
               {"text", text->substr(from)}};
  const auto* thought = std::get_if<store::ThinkingPart>(&answer_.parts[part]);
  if (thought != nullptr) {
    data["tokens"] = thought->tokens;
    data["ms"] = thought->time.count();
  }
  out.push_back(
      {thought != nullptr ? "thinking" : "delta", std::move(data), id_at(before + text->size())});
}

void LiveAnswer::add_tool_news(std::size_t part, std::vector<StreamEvent>& out) const {
  const auto* call = std::get_if<store::ToolPart>(&answer_.parts[part]);
  if (call != nullptr) {
    out.push_back(
        event("tool", {{"part", part}, {"call", call->call_id}, {"state", word_of(call->state)}}));
  }
}

StreamEvent LiveAnswer::begun() const {
  const std::lock_guard lock(mutex_);
  return event("turn", {{"parent", parent_ ? Json(id_text(*parent_)) : Json(nullptr)}});
}

std::vector<StreamEvent> LiveAnswer::news() {
  const std::lock_guard lock(mutex_);
  const Clock::time_point now = Clock::now();
  if (round_) {
    progress_ = round_->progress();
    speed_.note(now, tokens());
  }
  if (thought_began_) {
    auto& thought = std::get<store::ThinkingPart>(answer_.parts.back());
    thought.time = thought_before_ + std::chrono::round<store::Milliseconds>(now - *thought_began_);
    thought.tokens = thought_tokens_before_ + static_cast<std::int64_t>(progress_.reasoning_tokens);
  }
  std::vector<StreamEvent> out;
  std::size_t before = 0;
  for (std::size_t i = 0; i < answer_.parts.size(); ++i) {
    const bool is_new = i >= heard_.size();
    add_text_news(i, is_new ? 0 : heard_[i], before, out);
    const auto* call = std::get_if<store::ToolPart>(&answer_.parts[i]);
    if (call != nullptr && (is_new || heard_states_[i] != call->state)) {
      add_tool_news(i, out);
    }
    heard_.resize(std::max(heard_.size(), i + 1));
    heard_states_.resize(heard_.size());
    heard_[i] = size_of(answer_.parts[i]);
    heard_states_[i] = call == nullptr ? store::ToolState::Done : call->state;
    before += heard_[i];
  }
  Json progress = progress_data();
  const bool is_phase_new =
      heard_progress_.is_null() || heard_progress_["phase"] != progress["phase"];
  if (is_phase_new || (now - progress_at_ >= kProgressPeriod && progress != heard_progress_)) {
    heard_progress_ = progress;
    progress_at_ = now;
    out.push_back(event("progress", progress));
  }
  return out;
}

StreamEvent LiveAnswer::snapshot() const {
  const std::lock_guard lock(mutex_);
  Json parts = Json::array();
  for (const store::Part& part : answer_.parts) {
    parts.push_back(part_data(part));
  }
  return event("snapshot", {{"parts", std::move(parts)}, {"progress", progress_data()}});
}

std::optional<std::vector<StreamEvent>> LiveAnswer::since(std::size_t offset) const {
  const std::lock_guard lock(mutex_);
  std::vector<StreamEvent> out;
  std::size_t before = 0;
  for (std::size_t i = 0; i < answer_.parts.size(); ++i) {
    add_text_news(i, offset > before ? offset - before : 0, before, out);
    add_tool_news(i, out);
    before += size_of(answer_.parts[i]);
  }
  if (offset > before) {
    return std::nullopt;
  }
  out.push_back(event("progress", progress_data()));
  return out;
}

StreamEvent LiveAnswer::ended() const {
  const std::lock_guard lock(mutex_);
  Json data = {{"context_used", context_used(answer_)}, {"context_max", context_max_}};
  if (answer_.state == store::AnswerState::Error) {
    data["text"] = answer_.error.text;
    data["hint"] = answer_.error.hint;
    return event("error", data);
  }
  data["reason"] = word_of(answer_.state);
  data["tokens"] = answer_.figures.tokens;
  return event("done", data);
}

}  // namespace smol::page
