#include "page/templates.h"

#include <cstddef>

#include "base/check.h"

namespace smol::page {
namespace {

constexpr std::string_view kTemplates = "templates/", kParts = "templates/parts/";
constexpr std::string_view kEnding = ".html.jinja";

}  // namespace

Templates::Templates(std::span<const WebFile> files) {
  std::string parts;
  for (const WebFile& file : files) {
    if (file.path.starts_with(kParts)) {
      parts += file.bytes;
    }
  }
  for (const WebFile& file : files) {
    if (file.path.starts_with(kTemplates) && !file.path.starts_with(kParts) &&
        file.path.ends_with(kEnding)) {
      std::string_view name = file.path.substr(kTemplates.size());
      name.remove_suffix(kEnding.size());
      std::string source = parts;
      source += file.bytes;
      templates_.emplace(name, jinja::Template::parse(source, {.autoescape = true}));
    }
  }
}

std::string Templates::render(std::string_view name, const jinja::Dict& context) const {
  const auto found = templates_.find(name);
  SMOL_CHECK(found != templates_.end());
  std::string text = found->second.render(context).text.bytes();
  text.erase(0, text.find_first_not_of(" \t\r\n"));  // what the parts print by themselves
  return text;
}

}  // namespace smol::page
