// The official chat templates of SmolLM3, to tell which one a model file carries.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smol::app {

std::string_view smollm3_template_newest() noexcept;
std::string_view smollm3_template_gguf() noexcept;
std::string_view smollm3_template_v2() noexcept;
std::string_view smollm3_template_v1() noexcept;

struct KnownTemplate {
  std::string_view name;
  std::string_view text;
  bool is_current;          // has everything that the newest one has
  std::string_view remark;  // what it lacks; empty for current ones
};

std::span<const KnownTemplate> known_templates() noexcept;

struct TemplateMatch {
  const KnownTemplate* exact;    // nullptr: it equals none of them
  const KnownTemplate* closest;  // never nullptr
  // Against the closest one, as "- line" (only there) and "+ line" (only here), in order.
  std::vector<std::string> difference;
};

// White space at the end of the template does not count.
TemplateMatch match_template(std::string_view text);

}  // namespace smol::app
