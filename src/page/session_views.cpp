#include "page/session_views.h"

#include <array>
#include <cstddef>
#include <ctime>
#include <utility>
#include <vector>

#include "page/values.h"

namespace smol::page {
namespace {

using jinja::Dict;
using jinja::List;
using jinja::Value;

Value item_value(const store::SessionSummary& session, std::string_view current) {
  return Value::dict({{"id", text_value(session.id)},
                      {"title", text_value(session.title)},
                      {"pinned", Value::boolean(session.pinned)},
                      {"archived", Value::boolean(session.archived)},
                      {"is_current", Value::boolean(session.id == current)},
                      {"is_running", Value::boolean(session.is_running)}});
}

enum Group : std::size_t { kPinned, kToday, kYesterday, kEarlier, kGroups };

Group group_of(const store::SessionSummary& session, std::chrono::sys_days today) {
  if (session.pinned) {
    return kPinned;
  }
  const auto age = today - std::chrono::sys_days(local_date(session.updated_at));
  return age.count() <= 0 ? kToday : age.count() == 1 ? kYesterday : kEarlier;
}

}  // namespace

std::chrono::year_month_day local_date(store::Time now) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(
      std::chrono::time_point_cast<std::chrono::system_clock::duration>(now));
  std::tm local{};
  localtime_r(&seconds, &local);
  const std::chrono::year year(local.tm_year + 1900);
  const std::chrono::month month(static_cast<unsigned>(local.tm_mon) + 1U);
  return {year, month, std::chrono::day(static_cast<unsigned>(local.tm_mday))};
}

Value session_value(const store::Session& session) {
  return Value::dict({{"id", text_value(session.id)},
                      {"title", text_value(session.title)},
                      {"think", Value::boolean(session.settings.think)}});
}

Value no_session_value(const store::Settings& next) {
  return Value::dict(
      {{"id", text_value("")}, {"title", text_value("")}, {"think", Value::boolean(next.think)}});
}

Value groups_value(const std::vector<store::SessionSummary>& sessions, std::string_view current,
                   store::Time now) {
  constexpr std::array<std::string_view, kGroups> kLabels{"Pinned", "Today", "Yesterday",
                                                          "Earlier"};
  const std::chrono::sys_days today(local_date(now));
  std::array<List, kGroups> groups;
  for (const store::SessionSummary& session : sessions) {
    groups.at(group_of(session, today)).push_back(item_value(session, current));
  }
  List out;
  for (std::size_t i = 0; i < kGroups; ++i) {
    if (!groups.at(i).empty()) {
      out.push_back(Value::dict({{"label", text_value(kLabels.at(i))},
                                 {"sessions", Value::list(std::move(groups.at(i)))}}));
    }
  }
  return Value::list(std::move(out));
}

void set_session_list(Dict& out, const store::SessionStore& store, std::string_view current) {
  out.set("session_groups",
          groups_value(store.sessions(false), current, store::SessionStore::system_time()));
  out.set("archived_count", count_value(store.counts().archived));
}

}  // namespace smol::page
