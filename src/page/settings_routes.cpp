// A session's settings, or those of the next new one.
#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <optional>
#include <utility>

#include "base/error.h"
#include "page/message_routes.h"
#include "page/session_routes.h"
#include "page/values.h"

namespace smol::page {
namespace {

using jinja::Dict;
using jinja::Value;
using store::Settings;

struct NumberField {
  const char* name;
  double least, most;
  std::optional<double> Settings::*value;
};

struct CountField {
  const char* name;
  double least, most;
  std::optional<std::int64_t> Settings::*value;
};

constexpr double kMostTokens = 1 << 24;

constexpr std::array<NumberField, 4> kNumbers{
    {{"temperature", 0, 2, &Settings::temperature},
     {"top_p", 0, 1, &Settings::top_p},
     {"min_p", 0, 1, &Settings::min_p},
     {"repetition_penalty", 0.5, 2, &Settings::repetition_penalty}}};
constexpr std::array<CountField, 4> kCounts{
    {{"top_k", 0, 1000, &Settings::top_k},
     {"seed", 0, 4294967295.0, &Settings::seed},
     {"max_tokens", 1, kMostTokens, &Settings::max_tokens},
     {"thinking_budget", 0, kMostTokens, &Settings::thinking_budget}}};

std::string short_text(double value) {
  std::array<char, 32> out{};
  std::snprintf(out.data(), out.size(), "%g", value);
  return out.data();
}

std::string range_text(double least, double most) {
  return "Between " + short_text(least) + " and " + short_text(most) + ", please.";
}

// Nothing, with a word in `errors`, where the field holds no such number.
std::optional<double> read(const Form& form, const char* name, double least, double most,
                           Dict& errors) {
  try {
    const auto value = form.number(name);
    if (!value || (*value >= least && *value <= most)) {
      return value;
    }
  } catch (const Error&) {
    // said below
  }
  errors.set(name, text_value(range_text(least, most)));
  return std::nullopt;
}

Settings read_settings(const Form& form, Settings settings, Dict& errors) {
  settings.system = form.text("system");
  settings.tools = form.has("tools") ? form.flag("tools") : settings.tools;
  for (const NumberField& field : kNumbers) {
    settings.*field.value = read(form, field.name, field.least, field.most, errors);
  }
  for (const CountField& field : kCounts) {
    const auto value = read(form, field.name, field.least, field.most, errors);
    settings.*field.value = value ? std::optional(static_cast<std::int64_t>(*value)) : std::nullopt;
    if (value && *value != std::floor(*value)) {
      errors.set(field.name, text_value("A whole number, please."));
    }
  }
  return settings;
}

Value settings_value(const Settings& settings) {
  Dict out;
  out.set("tools", Value::boolean(settings.tools));
  out.set("system", settings.system.empty() ? Value::none() : text_value(settings.system));
  for (const NumberField& field : kNumbers) {
    const auto& value = settings.*field.value;
    out.set(field.name, value ? text_value(short_text(*value)) : Value::none());
  }
  for (const CountField& field : kCounts) {
    const auto& value = settings.*field.value;
    out.set(field.name, value ? Value::integer(*value) : Value::none());
  }
  return Value::dict(std::move(out));
}

// What was typed, where it is not right.
Value typed_value(const Form& form) {
  Dict out;
  const auto set = [&](const char* name) {
    const std::string& text = form.text(name);
    out.set(name, text.empty() ? Value::none() : text_value(text));
  };
  out.set("tools", Value::boolean(form.flag("tools")));
  set("system");
  for (const NumberField& field : kNumbers) {
    set(field.name);
  }
  for (const CountField& field : kCounts) {
    set(field.name);
  }
  return Value::dict(std::move(out));
}

Dict dialog(const std::optional<store::SessionId>& session, Value settings) {
  Dict out;
  out.set("session", Value::dict({{"id", text_value(session.value_or(""))}}));
  out.set("settings", std::move(settings));
  out.set("errors", Value::dict({}));
  out.set("saved", Value::boolean(false));
  out.set("focus_system", Value::boolean(false));
  return out;
}

Settings settings_of(const Call& call, const std::optional<store::SessionId>& session) {
  return session ? call.house.store.session(*session).settings : call.house.store.next_settings();
}

Settings change_settings(const Call& call, const std::optional<store::SessionId>& session,
                         const std::function<void(Settings&)>& change) {
  store::SessionStore& store = call.house.store;
  return session ? store.change_settings(*session, change) : store.change_next_settings(change);
}

}  // namespace

server::Reply get_settings(const Call& call) {
  const auto session = call.session();
  Settings settings = settings_of(call, session);
  if (!call.form.text("system").empty()) {
    settings.system = call.form.text("system");
  }
  Dict context = dialog(session, settings_value(settings));
  context.set("focus_system", Value::boolean(call.form.has("system")));
  return call.html("fragments/settings", std::move(context));
}

server::Reply post_settings(const Call& call) {
  const auto session = call.session();
  Dict errors;
  const Settings settings = read_settings(call.form, settings_of(call, session), errors);
  if (!errors.empty()) {
    Dict context = dialog(session, typed_value(call.form));
    context.set("errors", Value::dict(std::move(errors)));
    return call.html("fragments/settings", std::move(context), 400);
  }
  change_settings(call, session, [&](Settings& old) {
    const bool think = old.think;
    old = settings;
    old.think = think;
  });
  Dict context = dialog(session, settings_value(settings));
  context.set("saved", Value::boolean(true));
  return call.html("fragments/settings", std::move(context));
}

server::Reply post_toggle_thinking(const Call& call) {
  const auto session = call.session();
  const Settings now = change_settings(call, session, [&](Settings& s) {
    s.think = call.form.has("think") ? call.form.flag("think") : !s.think;
  });
  const auto price = session ? think_price(call, *session, now.think) : std::nullopt;
  return call.html("fragments/thinking", {{"price", price.value_or(Value::none())}});
}

server::Reply post_set_temperature(const Call& call) {
  Dict errors;
  const auto value = read(call.form, "temperature", 0, 2, errors);
  if (!value) {
    throw Refusal{400, "bad", "The temperature must be a number from 0 to 2.",
                  "For instance /temp 0.7"};
  }
  change_settings(call, call.session(), [&](Settings& s) { s.temperature = value; });
  return call.note("info", "Temperature " + short_text(*value) + " from now on.");
}

}  // namespace smol::page
