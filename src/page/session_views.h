// The list of conversations as templates read it: docs/page.md, "Contexts".
#pragma once

#include <string>
#include <string_view>

#include "jinja/value.h"
#include "store/session_store.h"
#include "store/types.h"

namespace smol::page {

jinja::Value session_value(const store::Session& session);
// Of a page without one: the next one's settings.
jinja::Value no_session_value(const store::Settings& next);

// Pinned ones first, then by the day of their last change, where the person is.
jinja::Value groups_value(const std::vector<store::SessionSummary>& sessions,
                          std::string_view current, store::Time now);

// session_groups and archived_count. `current`: the id of the session that the page shows.
void set_session_list(jinja::Dict& out, const store::SessionStore& store, std::string_view current);

// Today, where the person is.
std::chrono::year_month_day local_date(store::Time now);

}  // namespace smol::page
