#include "page/context_gauge.h"

#include <cstdint>
#include <optional>
#include <vector>

#include "page/message_views.h"
#include "page/prompts.h"
#include "page/values.h"

namespace smol::page {
namespace {

using jinja::Value;

Value gauge_value(const House& house, std::int64_t used) {
  return Value::dict(
      {{"used", Value::integer(used)}, {"max", count_value(house.assistant.model().context)}});
}

std::int64_t used_of(const House& house, const store::SessionId& session) {
  const auto leaf = house.store.last_message(session);
  if (!leaf) {
    return 0;
  }
  const store::Message last = house.store.message(*leaf);
  if (last.role == store::Role::Assistant && last.answer.figures.prompt_tokens > 0) {
    return context_used(last.answer);
  }
  const store::Session about = house.store.session(session);
  return static_cast<std::int64_t>(
      context_size(house.assistant.builder(), about, house.store.messages_up_to(*leaf),
                   house.turns.wish(about.settings, about.settings.think)));
}

}  // namespace

Value context_value(const House& house, const store::SessionId& session) {
  return gauge_value(house, used_of(house, session));
}

Value empty_context_value(const House& house) {
  return gauge_value(house, 0);
}

}  // namespace smol::page
