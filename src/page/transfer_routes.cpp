// Sessions as files: export and import.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "page/session_routes.h"
#include "page/session_views.h"
#include "page/values.h"
#include "store/export.h"
#include "store/import.h"

namespace smol::page {
namespace {

// A file name of ASCII letters, for any system.
std::string file_name(std::string_view title, std::string_view ending) {
  constexpr std::size_t kLongestName = 60;
  std::string out;
  for (const char c : title.substr(0, kLongestName)) {
    const bool fits = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (fits || (!out.empty() && out.back() != '-')) {
      out += fits ? c : '-';
    }
  }
  out.erase(out.find_last_not_of('-') + 1);
  return (out.empty() ? "conversation" : out) + std::string(ending);
}

std::string imported_text(std::size_t count) {
  return count == 1 ? "1 conversation was imported."
                    : std::to_string(count) + " conversations were imported.";
}

}  // namespace

server::Reply get_export(const Call& call) {
  const store::Transcript transcript = call.house.store.transcript(call.some_session());
  const std::string& format = call.form.text("format");
  const bool is_json = format == "json";
  if (!is_json && format != "md" && !format.empty()) {
    throw Error{ErrorCode::BadInput, "format: expected md or json, found \"" + format + "\""};
  }
  server::HttpResponse response;
  response.headers.add("Content-Type",
                       is_json ? "application/json" : "text/markdown; charset=utf-8");
  response.headers.add("Content-Disposition",
                       "attachment; filename=\"" +
                           file_name(transcript.session.title, is_json ? ".json" : ".md") + '"');
  response.headers.add("Cache-Control", "no-store");
  response.body = is_json ? store::to_json({transcript}) : store::to_markdown(transcript);
  return response;
}

server::Reply post_import(const Call& call) {
  const store::Time now = store::SessionStore::system_time();
  const text::Tokenizer& tokenizer = call.house.assistant.builder().tokenizer();
  const store::Import import = store::read_export(
      call.form.file("file").value_or(call.request.body),
      {now, local_date(now),
       [&tokenizer](std::string_view text) {
         return static_cast<std::int64_t>(tokenizer.encode(text, text::AddedTokens::None).size());
       }},
      {.text_bytes = call.house.facts.most_import_bytes});
  call.house.store.insert(import.transcripts);
  const Notice notice{"info", imported_text(import.transcripts.size()),
                      import.left_out == 0 ? ""
                                           : std::to_string(import.left_out) +
                                                 " attachments that are no text were left out."};
  return call.session_list({{"notices", notices_value({&notice, 1})}});
}

}  // namespace smol::page
