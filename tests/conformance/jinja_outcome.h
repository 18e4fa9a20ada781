// What rendering one golden case gave, and whether that is what the golden says. Defined in
// kind_jinja.cpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "conformance/conformance.h"
#include "jinja/template.h"
#include "jinja/value.h"

namespace smol::conformance {

struct JinjaOutcome {
  std::optional<std::string> text;  // nullopt: it failed
  jinja::List spans;                // [begin, end] in code points
  std::string error;
  std::string phase;  // parse or render
  bool raised_by_template = false;
};

// "2025-07-08T14:05:09"
std::tm parse_moment(std::string_view text);
inline constexpr std::string_view kFrozenMoment = "2025-07-08T14:05:09";

JinjaOutcome run_template(const std::string& source, const jinja::Dict& variables,
                          const std::tm& now);

// Compares with `expected` (and `generation_spans`) or `error` of the record and counts one case.
void judge(const JinjaOutcome& outcome, const jinja::Dict& record, const std::string& id,
           Report& report);

// As for_each_record(), with jinja's values: big integers and the order of keys survive.
void for_each_value(
    const std::filesystem::path& file, Report& report,
    const std::function<void(const jinja::Dict& record, const std::string& id)>& one);

}  // namespace smol::conformance
