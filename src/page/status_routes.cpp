// What the machine does: the status page, and the same for scripts.
#include <algorithm>
#include <utility>

#include "base/json.h"
#include "base/resident_memory.h"
#include "page/session_routes.h"
#include "page/values.h"
#include "server/api_error.h"

namespace smol::page {
namespace {

using jinja::Dict;
using jinja::List;
using jinja::Value;

// "3 h 12 min"
std::string duration_text(std::chrono::seconds time) {
  const auto minutes = time.count() / 60;
  if (minutes == 0) {
    return std::to_string(time.count()) + " s";
  }
  if (minutes < 60) {
    return std::to_string(minutes) + " min";
  }
  return std::to_string(minutes / 60) + " h " + std::to_string(minutes % 60) + " min";
}

void set_graph(Dict& out, const std::string& name, double StatusHistory::Sample::*value,
               const std::vector<StatusHistory::Sample>& samples) {
  List list;
  double peak = 0;
  for (const StatusHistory::Sample& sample : samples) {
    list.push_back(Value::number(sample.*value));
    peak = std::max(peak, sample.*value);
  }
  out.set(name + "_samples", Value::list(std::move(list)));
  out.set(name + "_peak", Value::number(peak * 1.1));
}

std::string_view state_of(const chat::AssistantStats& stats) {
  return stats.running > 0 ? "writing" : stats.paused > 0 ? "paused" : "idle";
}

Value status_value(const Call& call) {
  House& house = call.house;
  const chat::AssistantStats stats = house.assistant.stats();
  house.history.note(StatusHistory::Clock::now(), stats, resident_bytes());
  const auto samples = house.history.samples();
  const StatusHistory::Sample now = samples.empty() ? StatusHistory::Sample{} : samples.back();
  Dict out;
  out.set("threads", count_value(house.facts.threads));
  out.set("isa", text_value(house.facts.instruction_set));
  out.set("generation_speed", Value::number(now.generated_per_second));
  set_graph(out, "generation", &StatusHistory::Sample::generated_per_second, samples);
  out.set("prompt_speed", Value::number(now.read_per_second));
  set_graph(out, "prompt", &StatusHistory::Sample::read_per_second, samples);
  out.set("memory", text_value(size_text(static_cast<std::uint64_t>(now.memory_bytes))));
  set_graph(out, "memory", &StatusHistory::Sample::memory_bytes, samples);
  out.set("state", text_value(state_of(stats)));
  out.set("queued", count_value(stats.waiting));
  out.set("running", count_value(stats.running));
  out.set("kv_used", count_value(stats.kv_bytes));
  out.set("kv_max", count_value(stats.kv_bytes_max));
  out.set("kv_used_text", text_value(size_text(stats.kv_bytes)));
  out.set("kv_max_text", text_value(size_text(stats.kv_bytes_max)));
  out.set("sessions", count_value(house.store.counts().sessions));
  out.set("answers", count_value(house.turns.answers()));
  out.set("uptime", text_value(duration_text(std::chrono::duration_cast<std::chrono::seconds>(
                        StatusHistory::Clock::now() - house.history.began()))));
  return Value::dict(std::move(out));
}

}  // namespace

server::Reply get_status_page(const Call& call) {
  return call.html("pages/status", {{"status", status_value(call)}});
}

server::Reply get_status_live(const Call& call) {
  return call.html("fragments/status_live", {{"status", status_value(call)}});
}

server::Reply get_status(const Call& call) {
  House& house = call.house;
  const chat::AssistantStats stats = house.assistant.stats();
  Json out = {{"state", state_of(stats)},
              {"running", stats.running},
              {"waiting", stats.waiting},
              {"sessions", house.store.counts().sessions},
              {"kv_bytes", stats.kv_bytes},
              {"kv_bytes_max", stats.kv_bytes_max},
              {"memory_bytes", resident_bytes()},
              {"prompt_tokens_per_second", stats.prompt_tokens_per_second},
              {"generated_tokens_per_second", stats.generated_tokens_per_second},
              {"turn", nullptr},
              {"last", nullptr}};
  if (const auto session = call.session()) {
    if (const auto turn = house.turns.running(*session)) {
      out["turn"] = {{"id", id_text(turn->id)}, {"phase", turn->phase}};
    }
    if (const auto last = house.store.last_message(*session)) {
      out["last"] = id_text(*last);
    }
  }
  return server::json_response(200, out);
}

server::Reply get_model_info(const Call& call) {
  const chat::ModelFacts& model = call.house.assistant.model();
  return server::json_response(200, {{"id", model.id},
                                     {"architecture", model.architecture},
                                     {"quantization", model.quantization},
                                     {"context", model.context},
                                     {"vocab_size", model.vocab_size},
                                     {"file_bytes", model.file_bytes},
                                     {"is_demo", model.is_demo}});
}

}  // namespace smol::page
