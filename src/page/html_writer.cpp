#include "page/html_writer.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <utility>

#include "page/form.h"
#include "page/values.h"
#include "server/random_id.h"

namespace smol::page {
namespace {

using jinja::Dict;
using jinja::Value;

std::string policy(std::string_view nonce) {
  return "default-src 'none'; script-src 'self' 'nonce-" + std::string(nonce) +
         "'; style-src 'self'; font-src 'self'; connect-src 'self'; manifest-src 'self'; "
         "worker-src 'self'; form-action 'self'; img-src 'self' data:; base-uri 'none'; "
         "frame-ancestors 'none'";
}

bool thinks(const chat::Assistant& assistant) {
  return assistant.builder().tokenizer().encode("<think>").size() == 1;
}

}  // namespace

std::string size_text(std::uint64_t bytes) {
  constexpr std::array<const char*, 4> kUnits{"KiB", "MiB", "GiB", "TiB"};
  double size = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  while (size >= 1024 && unit + 1 < kUnits.size()) {
    size /= 1024;
    ++unit;
  }
  std::array<char, 32> out{};
  std::snprintf(out.data(), out.size(), "%.*f %s", size < 10 ? 2 : 1, size, kUnits.at(unit));
  return out.data();
}

Value notices_value(std::span<const Notice> notices) {
  jinja::List out;
  for (const Notice& notice : notices) {
    out.push_back(Value::dict({{"kind", text_value(notice.kind)},
                               {"text", text_value(notice.text)},
                               {"hint", text_value(notice.hint)}}));
  }
  return Value::list(std::move(out));
}

Value HtmlWriter::model_value(const chat::Assistant* assistant) const {
  const chat::ModelFacts none;
  const chat::ModelFacts& model = assistant == nullptr ? none : assistant->model();
  return Value::dict({{"id", text_value(model.id)},
                      {"name", text_value(facts_.model_name)},
                      {"quantization", text_value(model.quantization)},
                      {"is_demo", Value::boolean(model.is_demo)},
                      {"thinks", Value::boolean(assistant != nullptr && thinks(*assistant))},
                      {"context_length", count_value(model.context)},
                      {"file", text_value(facts_.model_file)},
                      {"size", text_value(size_text(model.file_bytes))}});
}

server::HttpResponse HtmlWriter::write(const server::HttpRequest& request, std::string_view name,
                                       Dict context, const chat::Assistant* assistant,
                                       int status) const {
  const std::string nonce = server::random_id();
  const std::string theme = cookie_of(request, "theme");
  const bool is_theme = theme == "light" || theme == "dark";
  context.set("nonce", text_value(nonce));
  context.set("theme", text_value(is_theme ? theme : "auto"));
  context.set("sidebar_open", Value::boolean(cookie_of(request, "sidebar") != "closed"));
  context.set("asset_version", text_value(assets_.version()));
  context.set("app", Value::dict({{"name", text_value("smolbot")},
                                  {"version", text_value(facts_.version)}}));
  context.set("model", model_value(assistant));
  return {status,
          {{"Content-Type", "text/html; charset=utf-8"},
           {"Content-Security-Policy", policy(nonce)},
           {"Cache-Control", "no-store"}},
          templates_.render(name, context)};
}

}  // namespace smol::page
