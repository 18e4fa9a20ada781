// Dates as text.
#pragma once

#include <ctime>
#include <string>
#include <string_view>

#include "jinja/budget.h"

namespace smol::jinja {

// datetime.strftime of Python on Linux, always in English. Weekday and day of the year are worked
// out from the date. Throws Fault{Limit} for a field that is too wide.
std::string format_time(Budget& budget, std::string_view format, const std::tm& moment);

}  // namespace smol::jinja
