#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "app/doctor_checks.h"
#include "app/known_templates.h"
#include "app/sha256.h"
#include "gguf/printable.h"

namespace smol::app {
namespace {

constexpr std::size_t kShownLines = 12;

std::string difference_text(const TemplateMatch& match) {
  std::string text =
      fmt::format("{} lines differ from \"{}\":", match.difference.size(), match.closest->name);
  for (std::size_t i = 0; i < std::min(match.difference.size(), kShownLines); ++i) {
    text += "\n" + gguf::printable(match.difference[i], 100);
  }
  if (match.difference.size() > kShownLines) {
    text += fmt::format("\n... and {} more", match.difference.size() - kShownLines);
  }
  return text;
}

void judge_smollm3(std::string_view source, Findings& findings) {
  constexpr std::string_view kRemedy = "give the newest official one with --chat-template FILE";
  const TemplateMatch match = match_template(source);
  if (match.exact == nullptr) {
    findings.fault("template", "not an official one: " + difference_text(match),
                   std::string(kRemedy));
  } else if (!match.exact->is_current) {
    findings.fault("template", fmt::format("{}: {}", match.exact->name, match.exact->remark),
                   std::string(kRemedy));
  } else {
    findings.good("template", std::string(match.exact->name));
  }
}

}  // namespace

void check_template(const gguf::File& file, Findings& findings) {
  const auto source = file.metadata().string("tokenizer.chat_template");
  const bool is_smollm3 = family_of(file) == Family::SmolLM3;
  if (!source && is_smollm3) {
    findings.fault("template", "tokenizer.chat_template: expected a template, found no such key",
                   "give one with --chat-template FILE");
  } else if (!source) {
    findings.note("template", "the file has none: only raw prompts can be answered",
                  "give one with --chat-template FILE");
  } else if (is_smollm3) {
    judge_smollm3(*source, findings);
  } else {
    findings.good("template",
                  fmt::format("{} bytes, sha256 {}", source->size(), sha256_hex(*source)));
  }
}

}  // namespace smol::app
