#include "app/known_templates.h"

#include <array>

#include "app/line_diff.h"

namespace smol::app {
namespace {

std::string_view without_tail(std::string_view text) {
  const std::size_t last = text.find_last_not_of(" \t\r\n");
  return text.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

}  // namespace

std::span<const KnownTemplate> known_templates() noexcept {
  static const std::array kKnown{
      KnownTemplate{"SmolLM3 official, newest", smollm3_template_newest(), true, ""},
      KnownTemplate{"SmolLM3 official, newest, as in GGUF files", smollm3_template_gguf(), true,
                    ""},
      KnownTemplate{"SmolLM3 official, second version", smollm3_template_v2(), false,
                    "it does not show the model the tools of a request"},
      KnownTemplate{"SmolLM3 official, first version", smollm3_template_v1(), false,
                    "it does not show the model the tools of a request"},
  };
  return kKnown;
}

TemplateMatch match_template(std::string_view text) {
  const std::string_view ours = without_tail(text);
  TemplateMatch match{nullptr, nullptr, {}};
  for (const KnownTemplate& known : known_templates()) {
    if (without_tail(known.text) == ours) {
      return {&known, &known, {}};
    }
    std::vector<std::string> difference = line_diff(without_tail(known.text), ours);
    if (match.closest == nullptr || difference.size() < match.difference.size()) {
      match.closest = &known;
      match.difference = std::move(difference);
    }
  }
  return match;
}

}  // namespace smol::app
