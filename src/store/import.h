// Reads exports, ours and others'. What comes back can be inserted as it is; nothing is trusted:
// size, number and nesting of values are bounded, and every field has its type.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

#include "store/transcript.h"

namespace smol::store {

struct ImportLimits {
  std::size_t text_bytes = std::size_t{256} << 20U;  // of the file, and of what is packed in it
  std::size_t values = 4'000'000;                    // JSON values in the file
  std::size_t keys = 10'000;                         // of one JSON object
  std::size_t messages = 100'000;                    // in the file
  std::size_t items = 2'000;                         // of one message: calls, results, texts
};

// What a foreign file does not say.
struct ImportDefaults {
  Time now;
  std::chrono::year_month_day date;                            // today, where the person is
  std::function<std::int64_t(std::string_view)> count_tokens;  // of an attachment
};

struct Import {
  std::vector<Transcript> transcripts;
  std::size_t left_out = 0;  // attachments that are no text
};

// Reads
//  - our own export (export.h);
//  - llama-server's (llama.cpp's web UI of November 2026, tools/ui): one session as JSON lines,
//    several as a ZIP archive of them, and the JSON list that earlier versions wrote;
//  - Open WebUI's (0.11, and the form without `chat` of early versions): a list of chats.
// Throws Error{BadInput} with the path of the field ("sessions[0].messages[3].role: expected ...,
// found ..."), Error{Unsupported} for our own export of a newer version.
Import read_export(std::string_view text, const ImportDefaults& defaults,
                   const ImportLimits& limits = {});

}  // namespace smol::store
