// Any text is a template: it parses and renders, or fails with TemplateError, within small bounds.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "jinja/error.h"
#include "jinja/json_input.h"
#include "jinja/template.h"

namespace {

using smol::jinja::Dict;

const Dict& variables() {
  static const smol::jinja::Value kVariables = smol::jinja::value_from_json(
      R"({"messages": [{"role": "system", "content": "Hi\n"}, {"role": "user", "content": [{"type": "text", "text": "é"}]}],
          "tools": null, "add_generation_prompt": true, "bos_token": "<s>", "xs": [3, 1, 2], "s": "Hello World", "i": 7,
          "f": 2.5, "n": null, "d": {"b": 2, "a": [1, {"c": "x"}]}, "big": 123456789012345678901234567890})",
      "variables");
  return kVariables.dict();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view source(reinterpret_cast<const char*>(data), size);
  smol::jinja::RenderOptions options;
  options.now.emplace();
  options.now->tm_mday = 1;
  options.now->tm_year = 125;
  options.limits.max_steps = 200'000;
  options.limits.max_bytes = 32U << 20U;
  options.limits.max_output_bytes = 1U << 20U;
  smol::jinja::ParseOptions parsing;
  parsing.autoescape = size % 2 == 1;
  try {
    static_cast<void>(smol::jinja::Template::parse(source, parsing).render(variables(), options));
  } catch (const smol::jinja::TemplateError&) {
    return 0;
  }
  return 0;
}
