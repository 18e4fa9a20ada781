#include "store/import.h"

#include <string>
#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "store/fields.h"
#include "store/import_readers.h"
#include "store/zip_archive.h"

namespace smol::store {
namespace {

void read_archive(std::string_view bytes, ImportJob& job) {
  bool found = false;
  for (const ZipEntry& entry : read_zip(bytes, ".jsonl", job.limits.text_bytes)) {
    read_llama_lines(entry.content, entry.name + " ", job);
    found = true;
  }
  if (!found) {
    throw Error(ErrorCode::BadInput, "file: expected .jsonl files in the archive, found none");
  }
}

bool has(const Field& object, const char* key) {
  return object.is_object() && object.find(key).has_value();
}

void read_document(const Field& document, ImportJob& job) {
  if (has(document, "format")) {
    read_own(document, job);
    return;
  }
  const bool is_list = document.is_list();
  if (is_list && document.json().empty()) {
    return;
  }
  const Field first = is_list ? Field(document.json().front(), "[0]") : document;
  if (has(first, "conv")) {
    read_llama(document, job);
  } else if (has(first, "chat") || has(first, "history")) {
    read_open_webui(document, job);
  } else {
    first.refuse("a session as smolbot, llama-server or Open WebUI export it",
                 document.json().is_structured() ? "something else" : document.json().type_name());
  }
}

}  // namespace

Import read_export(std::string_view text, const ImportDefaults& defaults,
                   const ImportLimits& limits) {
  ImportJob job(defaults, limits);
  if (is_zip(text)) {
    read_archive(text, job);
  } else if (is_llama_lines(text)) {
    read_llama_lines(text, "", job);
  } else {
    const Json document = job.parse(text, "file");
    read_document(Field(document, ""), job);
  }
  return std::move(job.result);
}

}  // namespace smol::store
