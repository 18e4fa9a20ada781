#include "store/calendar.h"

#include <algorithm>
#include <cstddef>

namespace smol::store {
namespace {

void append_number(std::string& out, long long value, std::size_t digits) {
  std::string text = std::to_string(value);
  out.append(digits > text.size() ? digits - text.size() : 0, '0');
  out += text;
}

// The number that the digits [begin, begin + count) of the text are, -1 if they are none.
int number_at(std::string_view text, std::size_t begin, std::size_t count) noexcept {
  int value = 0;
  for (const char c : text.substr(begin, count)) {
    if (c < '0' || c > '9') {
      return -1;
    }
    value = value * 10 + (c - '0');
  }
  return value;
}

// Whether the text is as long as the form and equals it wherever that has no '0'.
bool has_form(std::string_view text, std::string_view form) noexcept {
  return text.size() == form.size() &&
         std::ranges::equal(text, form, [](char c, char f) { return f == '0' || c == f; });
}

}  // namespace

std::string date_text(std::chrono::year_month_day date) {
  std::string out;
  append_number(out, static_cast<int>(date.year()), 4);
  out += '-';
  append_number(out, static_cast<unsigned>(date.month()), 2);
  out += '-';
  append_number(out, static_cast<unsigned>(date.day()), 2);
  return out;
}

std::optional<std::chrono::year_month_day> parse_date(std::string_view text) noexcept {
  if (!has_form(text, "0000-00-00")) {
    return std::nullopt;
  }
  const int year = number_at(text, 0, 4);
  const int month = number_at(text, 5, 2);
  const int day = number_at(text, 8, 2);
  if (year < 1 || month < 0 || day < 0) {
    return std::nullopt;
  }
  const std::chrono::year_month_day date(std::chrono::year{year},
                                         std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)});
  return date.ok() ? std::optional(date) : std::nullopt;
}

std::string time_text(Time time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::hh_mm_ss<Milliseconds> clock(time - day);
  std::string out = date_text(std::chrono::year_month_day(day)) + "T";
  append_number(out, clock.hours().count(), 2);
  out += ':';
  append_number(out, clock.minutes().count(), 2);
  out += ':';
  append_number(out, clock.seconds().count(), 2);
  out += '.';
  append_number(out, clock.subseconds().count(), 3);
  return out + "Z";
}

std::optional<Time> parse_time(std::string_view text) noexcept {
  if (!has_form(text, "0000-00-00T00:00:00.000Z")) {
    return std::nullopt;
  }
  const auto date = parse_date(text.substr(0, 10));
  const int hours = number_at(text, 11, 2);
  const int minutes = number_at(text, 14, 2);
  const int seconds = number_at(text, 17, 2);
  const int ms = number_at(text, 20, 3);
  if (!date || hours < 0 || hours > 23 || minutes < 0 || minutes > 59 || seconds < 0 ||
      seconds > 59 || ms < 0) {
    return std::nullopt;
  }
  return Time(std::chrono::sys_days(*date)) + std::chrono::hours(hours) +
         std::chrono::minutes(minutes) + std::chrono::seconds(seconds) + Milliseconds(ms);
}

}  // namespace smol::store
