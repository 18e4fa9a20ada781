#include <array>
#include <ctime>
#include <utility>

#include "base/error.h"
#include "tools/calculator.h"
#include "tools/tool.h"

namespace smol::tools {
namespace {

Json spec_of(const char* name, const char* description, Json properties, Json required) {
  return {{"type", "function"},
          {"function",
           {{"name", name},
            {"description", description},
            {"parameters",
             {{"type", "object"},
              {"properties", std::move(properties)},
              {"required", std::move(required)}}}}}};
}

// "Saturday, 28 November 2026, 20:05:09 (UTC+0100)"
std::string time_text(std::int64_t now) {
  const std::time_t seconds = now;
  std::tm local{};
  localtime_r(&seconds, &local);
  std::array<char, 100> out{};
  const std::size_t size =
      std::strftime(out.data(), out.size(), "%A, %d %B %Y, %H:%M:%S (UTC%z)", &local);
  return {out.data(), size};
}

std::string calculate(const Json& arguments) {
  const auto expression = arguments.find("expression");
  if (expression == arguments.end() || !expression->is_string()) {
    throw Error{ErrorCode::BadInput, "expression: expected a string, found none"};
  }
  return number_text(evaluate(expression->get_ref<const std::string&>()));
}

}  // namespace

std::vector<Tool> built_in_tools(std::function<std::int64_t()> now) {
  const Json expression = {{"type", "string"},
                           {"description", "for instance (3 + 4) * 12.5, or sqrt(2)"}};
  std::vector<Tool> out;
  out.push_back({"current_time",
                 spec_of("current_time", "Tells the date and the time of day.", Json::object(),
                         Json::array()),
                 false,
                 [now = std::move(now)](const Json& /*arguments*/) { return time_text(now()); }});
  out.push_back({"calculator",
                 spec_of("calculator", "Computes an arithmetic expression exactly.",
                         {{"expression", expression}}, Json::array({"expression"})),
                 true, calculate});
  return out;
}

}  // namespace smol::tools
