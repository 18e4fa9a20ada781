// What the readers of foreign exports share.
#include <string>
#include <unordered_map>
#include <utility>

#include "base/json.h"
#include "store/import_readers.h"
#include "store/title.h"

namespace smol::store {
namespace {

std::unordered_map<std::string_view, std::size_t> places_of(const std::vector<ForeignNode>& nodes) {
  std::unordered_map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!places.emplace(nodes[i].id, i).second) {
      nodes[i].field.refuse("an id of its own", "\"" + nodes[i].id + "\" for the second time");
    }
  }
  return places;
}

}  // namespace

std::vector<ForeignOrder> parents_first(const std::vector<ForeignNode>& nodes) {
  const auto places = places_of(nodes);
  const auto parent_of = [&](std::size_t node) -> std::optional<std::size_t> {
    const auto found = places.find(nodes[node].parent);
    return found == places.end() ? std::nullopt : std::optional(found->second);
  };
  enum class State { New, Climbing, Placed };
  std::vector<State> states(nodes.size(), State::New);
  std::vector<ForeignOrder> order;
  std::vector<std::size_t> climbed;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (std::optional<std::size_t> at = i; at && states[*at] != State::Placed;
         at = parent_of(*at)) {
      if (states[*at] == State::Climbing) {
        nodes[*at].field.refuse("a tree of messages", "one that is its own parent");
      }
      states[*at] = State::Climbing;
      climbed.push_back(*at);
    }
    for (; !climbed.empty(); climbed.pop_back()) {
      states[climbed.back()] = State::Placed;
      order.push_back({climbed.back(), parent_of(climbed.back())});
    }
  }
  return order;
}

Transcript& add_session(ImportJob& job, std::string_view title) {
  Transcript& transcript = job.result.transcripts.emplace_back();
  Session& session = transcript.session;
  session.title = title_line(title);
  if (session.title.empty()) {
    session.title = "Imported conversation";
  }
  session.title_origin = TitleOrigin::Person;
  session.created_at = session.updated_at = job.defaults.now;
  session.date = job.defaults.date;
  return transcript;
}

void check_items(const Field& list, const ImportJob& job) {
  if (list.json().size() > job.limits.items) {
    list.refuse("at most " + std::to_string(job.limits.items) + " items", "more");
  }
}

void attach(Message& message, std::string name, std::string text, const ImportJob& job) {
  const auto& count = job.defaults.count_tokens;
  const std::int64_t tokens = count ? count(text) : 0;
  message.attachments.push_back({std::move(name), std::move(text), tokens});
}

Time foreign_time(const Field& object, const char* key, Time absent) {
  constexpr double kMostSeconds = 1e11;                 // beyond: they are milliseconds
  constexpr double kMostMilliseconds = 253402300799e3;  // of the year 9999
  const auto found = object.find(key);
  if (!found || !found->json().is_number()) {
    return absent;
  }
  const double number = found->json().get<double>();
  const double ms = number < kMostSeconds ? number * 1000 : number;
  const bool known = ms >= 0 && ms <= kMostMilliseconds;
  return known ? Time(Milliseconds(static_cast<std::int64_t>(ms))) : absent;
}

std::string call_arguments(const Field& arguments) {
  if (arguments.is_object()) {
    return arguments.json().dump();
  }
  return arguments.is_text() && !arguments.text().empty() ? arguments.text() : "{}";
}

}  // namespace smol::store
