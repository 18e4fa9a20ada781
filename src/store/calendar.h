// Dates and times as text (ISO 8601, UTC).
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "store/types.h"

namespace smol::store {

// "2026-11-28"
std::string date_text(std::chrono::year_month_day date);
// A date that the calendar has, of the years 1 to 9999.
std::optional<std::chrono::year_month_day> parse_date(std::string_view text) noexcept;

// "2026-11-28T13:20:38.123Z"
std::string time_text(Time time);
// Exactly that form.
std::optional<Time> parse_time(std::string_view text) noexcept;

}  // namespace smol::store
