#include "jinja/strftime.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>

namespace smol::jinja {
namespace {

using Names7 = std::array<std::string_view, 7>;
using Names12 = std::array<std::string_view, 12>;
constexpr Names7 kDays = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                          "Thursday", "Friday", "Saturday"};
constexpr Names12 kMonths = {"January", "February", "March",     "April",   "May",      "June",
                             "July",    "August",   "September", "October", "November", "December"};
constexpr std::size_t kShortName = 3;

// What a directive prints: text, or a number with its usual padding.
struct Padded {
  std::string text;
  char padding = '\0';    // '0' or ' ': a number
  std::size_t width = 0;  // of a number
};

class TimeFormatter {
 public:
  TimeFormatter(Budget& budget, const std::tm& moment)
      : budget_(budget), moment_(moment), year_(moment.tm_year + 1900) {
    using std::chrono::day;
    using std::chrono::month;
    using std::chrono::sys_days;
    using std::chrono::year;
    const sys_days first = year(year_) / month(1) / day(1);
    const sys_days today = year(year_) / month(static_cast<unsigned>(moment.tm_mon + 1)) /
                           day(static_cast<unsigned>(moment.tm_mday));
    year_day_ = static_cast<int>((today - first).count());
    week_day_ = static_cast<int>(std::chrono::weekday(today).c_encoding());
    epoch_ = static_cast<std::int64_t>(today.time_since_epoch().count()) * 86400 +
             std::int64_t{moment.tm_hour} * 3600 + std::int64_t{moment.tm_min} * 60 + moment.tm_sec;
  }

  std::string format(std::string_view text) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
      if (text[at] != '%' || at + 1 == text.size()) {
        out += text[at++];
        continue;
      }
      at += append_directive(out, text.substr(at));
    }
    return out;
  }

 private:
  // Appends what stands at the start of `text` ("%-d") and returns its length.
  std::size_t append_directive(std::string& out, std::string_view text) {
    std::size_t at = 1;
    char flag = '\0';
    bool upper = false;
    while (at < text.size() && std::string_view("-_0^#").find(text[at]) != std::string_view::npos) {
      upper = upper || text[at] == '^' || text[at] == '#';
      flag = text[at] == '^' || text[at] == '#' ? flag : text[at];
      ++at;
    }
    std::size_t width = 0;
    constexpr std::size_t kWidest = 4096;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') {
      width = std::min(width * 10 + static_cast<std::size_t>(text[at] - '0'), kWidest);
      ++at;
    }
    at += at < text.size() && (text[at] == 'E' || text[at] == 'O') ? 1 : 0;
    const char directive = at < text.size() ? text[at] : '\0';
    Padded field;
    if (!fill(field, directive)) {
      const std::size_t length = std::min(at + 1, text.size());
      out.append(text.substr(0, length));
      return length;
    }
    append_field(out, field, flag, upper, width);
    return at + 1;
  }

  void append_field(std::string& out, Padded& field, char flag, bool upper, std::size_t width) {
    budget_.charge(field.text.size() + width);
    if (upper) {
      std::transform(field.text.begin(), field.text.end(), field.text.begin(), [](char c) {
        return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
      });
    }
    const bool number = field.padding != '\0';
    const char padding = flag == '_' ? ' ' : (flag == '0' ? '0' : (number ? field.padding : ' '));
    const std::size_t least = flag == '-' ? width : std::max(width, number ? field.width : 0);
    if (field.text.size() < least) {
      out.append(least - field.text.size(), padding);
    }
    out += field.text;
  }

  static Padded number(std::int64_t value, std::size_t width, char padding = '0') {
    return {std::to_string(value), padding, width};
  }

  static int hour12(int hour) noexcept { return hour % 12 == 0 ? 12 : hour % 12; }

  // Week of the year whose first day is `start` (0 Sunday, 1 Monday).
  int week(int start) const noexcept { return (year_day_ + 7 - (week_day_ + 7 - start) % 7) / 7; }

  // ISO 8601: the year that owns the week, and the week.
  std::pair<int, int> iso_week() const noexcept {
    const int monday_based = (week_day_ + 6) % 7;
    const int number = (year_day_ - monday_based + 10) / 7;
    if (number < 1) {
      return {year_ - 1, weeks_in(year_ - 1)};
    }
    return number > weeks_in(year_) ? std::pair(year_ + 1, 1) : std::pair(year_, number);
  }

  static int weeks_in(int year) noexcept {
    const auto shift = [](int y) { return (y + y / 4 - y / 100 + y / 400) % 7; };
    return shift(year) == 4 || shift(year - 1) == 3 ? 53 : 52;
  }

  bool fill(Padded& field, char directive) {
    return fill_name(field, directive) || fill_date(field, directive) ||
           fill_time(field, directive) || fill_composite(field, directive);
  }

  bool fill_name(Padded& field, char directive) const {
    const std::string_view day = kDays[static_cast<std::size_t>(week_day_)];
    const std::string_view month = kMonths[static_cast<std::size_t>(moment_.tm_mon)];
    switch (directive) {
      case 'a':
        field.text = day.substr(0, kShortName);
        return true;
      case 'A':
        field.text = day;
        return true;
      case 'b':
      case 'h':
        field.text = month.substr(0, kShortName);
        return true;
      case 'B':
        field.text = month;
        return true;
      case 'p':
        field.text += moment_.tm_hour < 12 ? "AM" : "PM";
        return true;
      case 'P':
        field.text += moment_.tm_hour < 12 ? "am" : "pm";
        return true;
      case 'n':
        field.text += '\n';
        return true;
      case 't':
        field.text += '\t';
        return true;
      case '%':
        field.text += '%';
        return true;
      case 'z':
      case 'Z':
        return true;
      default:
        return false;
    }
  }

  bool fill_date(Padded& field, char directive) const {
    switch (directive) {
      case 'C':
        field = number(year_ / 100, 2);
        return true;
      case 'd':
        field = number(moment_.tm_mday, 2);
        return true;
      case 'e':
        field = number(moment_.tm_mday, 2, ' ');
        return true;
      case 'g':
        field = number(iso_week().first % 100, 2);
        return true;
      case 'G':
        field = number(iso_week().first, 1);
        return true;
      case 'j':
        field = number(year_day_ + 1, 3);
        return true;
      case 'm':
        field = number(moment_.tm_mon + 1, 2);
        return true;
      case 'u':
        field = number(week_day_ == 0 ? 7 : week_day_, 1);
        return true;
      case 'U':
        field = number(week(0), 2);
        return true;
      case 'V':
        field = number(iso_week().second, 2);
        return true;
      case 'w':
        field = number(week_day_, 1);
        return true;
      case 'W':
        field = number(week(1), 2);
        return true;
      case 'y':
        field = number(year_ % 100, 2);
        return true;
      case 'Y':
        field = number(year_, 1);
        return true;
      default:
        return false;
    }
  }

  bool fill_time(Padded& field, char directive) const {
    switch (directive) {
      case 'f':
        field.text = "000000";
        return true;
      case 'H':
        field = number(moment_.tm_hour, 2);
        return true;
      case 'I':
        field = number(hour12(moment_.tm_hour), 2);
        return true;
      case 'k':
        field = number(moment_.tm_hour, 2, ' ');
        return true;
      case 'l':
        field = number(hour12(moment_.tm_hour), 2, ' ');
        return true;
      case 'M':
        field = number(moment_.tm_min, 2);
        return true;
      case 's':
        field = number(epoch_, 1);
        return true;
      case 'S':
        field = number(moment_.tm_sec, 2);
        return true;
      default:
        return false;
    }
  }

  bool fill_composite(Padded& field, char directive) {
    static constexpr std::array kComposites =
        std::to_array<std::pair<char, std::string_view>>({{'c', "%a %b %e %H:%M:%S %Y"},
                                                          {'D', "%m/%d/%y"},
                                                          {'F', "%Y-%m-%d"},
                                                          {'r', "%I:%M:%S %p"},
                                                          {'R', "%H:%M"},
                                                          {'T', "%H:%M:%S"},
                                                          {'x', "%m/%d/%y"},
                                                          {'X', "%H:%M:%S"}});
    for (const auto& [letter, expansion] : kComposites) {
      if (letter == directive) {
        field.text = format(expansion);
        return true;
      }
    }
    return false;
  }

  Budget& budget_;
  const std::tm& moment_;
  int year_;
  int year_day_ = 0;
  int week_day_ = 0;
  std::int64_t epoch_ = 0;
};

}  // namespace

std::string format_time(Budget& budget, std::string_view format, const std::tm& moment) {
  return TimeFormatter(budget, moment).format(format);
}

}  // namespace smol::jinja
