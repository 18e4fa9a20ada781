// One reader per program whose exports are read (import.h). All throw Error{BadInput} with a path.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "store/fields.h"
#include "store/import.h"

namespace smol::store {

// What all readers of one import share.
struct ImportJob {
  ImportJob(const ImportDefaults& from_caller, const ImportLimits& most)
      : defaults(from_caller), limits(most), count(most) {}

  const ImportDefaults& defaults;
  const ImportLimits& limits;
  MessageCount count;
  std::size_t values = 0;  // JSON values so far
  std::size_t copied_bytes =
      0;  // of answers that go on in several ways, and are kept once for each
  Import result;

  Json parse(std::string_view text, std::string_view what) {
    return parse_bounded(text, what, limits, values);
  }
};

// Each appends the sessions of the document to job.result.
void read_own(const Field& document, ImportJob& job);
void read_llama(const Field& document, ImportJob& job);
void read_open_webui(const Field& document, ImportJob& job);

// llama-server's JSON lines. `name` goes before the line: "", or "chat.jsonl ".
bool is_llama_lines(std::string_view text);
void read_llama_lines(std::string_view text, const std::string& name, ImportJob& job);

// --- For the readers of foreign files

// A message as its file has it.
struct ForeignNode {
  std::string id;
  std::string parent;  // "": a root
  Field field;
};

struct ForeignOrder {
  std::size_t node;                   // index into the nodes
  std::optional<std::size_t> parent;  // likewise; comes earlier in the order
};

// The nodes in the file's order, but parents first. A parent that is not in the file makes a root.
// Throws Error{BadInput} for an id that is there twice, or a circle.
std::vector<ForeignOrder> parents_first(const std::vector<ForeignNode>& nodes);

// Appends a session with the defaults, and returns it.
Transcript& add_session(ImportJob& job, std::string_view title);
// Refuses a list of more than ImportLimits::items.
void check_items(const Field& list, const ImportJob& job);
// Appends a text file to the message.
void attach(Message& message, std::string name, std::string text, const ImportJob& job);
// The time that a foreign number of seconds or milliseconds is; else what is absent.
Time foreign_time(const Field& object, const char* key, Time absent);
// JSON text of an object: the string itself, or the value written out; "{}" where it is neither.
std::string call_arguments(const Field& arguments);

}  // namespace smol::store
