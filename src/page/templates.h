// The page's templates, by our own engine: docs/page.md, "Templates".
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "jinja/template.h"
#include "page/web_files.h"

namespace smol::page {

// Immutable: any thread.
class Templates {
 public:
  // Takes what lies in "templates/": parts/ is put before each of the others. Throws
  // jinja::TemplateError.
  explicit Templates(std::span<const WebFile> files);

  // `name`: "pages/chat". Throws jinja::TemplateError for a context that does not fit. Requires: a
  // template of that name.
  std::string render(std::string_view name, const jinja::Dict& context) const;

 private:
  std::map<std::string, jinja::Template, std::less<>> templates_;
};

}  // namespace smol::page
