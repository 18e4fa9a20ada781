// Answers in HTML, whole pages and fragments: each with a fresh nonce, its policy against foreign
// content, and what every template reads.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "chat/assistant.h"
#include "jinja/value.h"
#include "page/assets.h"
#include "page/templates.h"
#include "server/http_message.h"

namespace smol::page {

// What the page says of the program and its model, and what it takes.
struct PageFacts {
  std::string version;  // of the program
  std::string model_name;
  std::string model_file;
  std::string instruction_set;
  std::size_t threads = 0;
  std::size_t most_import_bytes = std::size_t{256} << 20U;
};

struct Notice {
  std::string_view kind;  // "info", "warn", "bad"
  std::string text;
  std::string hint = {};
};

// "1.8 GiB"
std::string size_text(std::uint64_t bytes);

jinja::Value notices_value(std::span<const Notice> notices);

// Any thread. What it is given must outlive it.
class HtmlWriter {
 public:
  HtmlWriter(const Templates& templates, const Assets& assets, const PageFacts& facts)
      : templates_(templates), assets_(assets), facts_(facts) {}

  // `model`: nothing while it is loaded.
  server::HttpResponse write(const server::HttpRequest& request, std::string_view name,
                             jinja::Dict context, const chat::Assistant* assistant,
                             int status = 200) const;

 private:
  jinja::Value model_value(const chat::Assistant* assistant) const;

  const Templates& templates_;
  const Assets& assets_;
  const PageFacts& facts_;
};

}  // namespace smol::page
