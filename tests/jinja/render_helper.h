// Rendering in tests: variables as JSON, the clock frozen.
#pragma once

#include <ctime>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "jinja/error.h"
#include "jinja/json_input.h"
#include "jinja/template.h"

namespace smol::jinja {

inline RenderOptions frozen_options() {
  RenderOptions options;
  std::tm now{};
  now.tm_year = 125;
  now.tm_mon = 6;
  now.tm_mday = 8;
  now.tm_hour = 14;
  now.tm_min = 5;
  now.tm_sec = 9;
  options.now = now;
  return options;
}

inline Rendered render_marked(std::string_view source, std::string_view variables = "{}") {
  return Template::parse(source).render(value_from_json(variables, "variables").dict(),
                                        frozen_options());
}

inline std::string render(std::string_view source, std::string_view variables = "{}") {
  return render_marked(source, variables).text.bytes();
}

// The message of the TemplateError that parsing or rendering ends with.
inline std::string failure(std::string_view source, std::string_view variables = "{}") {
  try {
    return "no error, but: " + render(source, variables);
  } catch (const TemplateError& error) {
    return error.message();
  }
}

// The rendered text with what the template wrote in brackets.
inline std::string marked(const MarkedString& text) {
  std::string out;
  std::size_t at = 0;
  for (const Range& range : text.template_ranges()) {
    out += text.bytes().substr(at, range.begin - at);
    out += "[" + text.bytes().substr(range.begin, range.end - range.begin) + "]";
    at = range.end;
  }
  return out + text.bytes().substr(at);
}

inline std::string marked(std::string_view source, std::string_view variables = "{}") {
  return marked(render_marked(source, variables).text);
}

}  // namespace smol::jinja
