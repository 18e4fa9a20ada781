#include "jinja/filters.h"

#include <algorithm>
#include <array>

#include "jinja/filter_functions.h"

namespace smol::jinja {
namespace {

struct Entry {
  std::string_view name;
  FilterFunction function;
};

// Sorted by name.
constexpr std::array kFilters = std::to_array<Entry>({
    {"abs", filters::abs},
    {"attr", filters::attr},
    {"batch", filters::batch},
    {"capitalize", filters::capitalize},
    {"center", filters::center},
    {"count", filters::length},
    {"d", filters::default_value},
    {"default", filters::default_value},
    {"dictsort", filters::dictsort},
    {"e", filters::escape},
    {"escape", filters::escape},
    {"filesizeformat", filters::filesizeformat},
    {"first", filters::first},
    {"float", filters::floating},
    {"forceescape", filters::forceescape},
    {"format", filters::format},
    {"groupby", filters::groupby},
    {"indent", filters::indent},
    {"int", filters::integer},
    {"items", filters::items},
    {"join", filters::join},
    {"last", filters::last},
    {"length", filters::length},
    {"list", filters::list},
    {"lower", filters::lower},
    {"map", filters::map},
    {"max", filters::max},
    {"min", filters::min},
    {"pprint", filters::pprint},
    {"random", filters::random},
    {"reject", filters::reject},
    {"rejectattr", filters::rejectattr},
    {"replace", filters::replace},
    {"reverse", filters::reverse},
    {"round", filters::round},
    {"safe", filters::safe},
    {"select", filters::select},
    {"selectattr", filters::selectattr},
    {"slice", filters::slice},
    {"sort", filters::sort},
    {"string", filters::string},
    {"striptags", filters::striptags},
    {"sum", filters::sum},
    {"title", filters::title},
    {"tojson", filters::tojson},
    {"trim", filters::trim},
    {"truncate", filters::truncate},
    {"unique", filters::unique},
    {"upper", filters::upper},
    {"urlencode", filters::urlencode},
    {"urlize", filters::urlize},
    {"wordcount", filters::wordcount},
    {"wordwrap", filters::wordwrap},
    {"xmlattr", filters::xmlattr},
});

}  // namespace

FilterFunction find_filter(std::string_view name) noexcept {
  const auto* const it = std::lower_bound(
      kFilters.begin(), kFilters.end(), name,
      [](const Entry& entry, std::string_view wanted) { return entry.name < wanted; });
  return it != kFilters.end() && it->name == name ? it->function : nullptr;
}

}  // namespace smol::jinja
