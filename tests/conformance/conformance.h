// smolbot_conformance: runs one kind of golden cases against the program's own parts. Each kind
// lives in kind_<name>.cpp and is listed in main.cpp.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace smol::conformance {

struct Options {
  std::filesystem::path cases;       // --cases FILE
  std::filesystem::path tokenizer;   // --tokenizer FILE (tokenizer.json or GGUF)
  std::filesystem::path tokenizers;  // --tokenizers DIR (chat-ids)
  bool gguf = false;                 // --gguf: <vocab>_vocab.gguf instead of <vocab>_tokenizer.json
  std::filesystem::path templates;   // --templates DIR
  std::filesystem::path contexts;    // --contexts FILE
  std::vector<std::filesystem::path> models;  // --models DIR, searched in order
  std::optional<std::string> kv_type;         // --kv-type f32|f16|int8
  std::optional<std::size_t> threads;         // --threads N
  std::optional<std::size_t> chunk;           // --chunk N: tokens of one prefill step
  std::optional<std::size_t> max_tokens;      // --max-tokens N: of the ids of a record (bits)
  std::optional<std::size_t> min_tokens;  // --min-tokens N: the ids are repeated up to it (bits)
  std::string only;     // --only TEXT: records whose id holds it (models, json-schema)
  std::string mistake;  // --mistake NAME: planted in the model (logits)
};

// Counts cases and prints each failure as one line: id, expected, got.
class Report {
 public:
  void pass() { ++passed_; }

  void skip(std::string_view id, std::string_view why);
  void fail(std::string_view id, std::string_view expected, std::string_view got);

  std::size_t passed() const noexcept { return passed_; }

  std::size_t failed() const noexcept { return failed_; }

  std::size_t skipped() const noexcept { return skipped_; }

 private:
  std::size_t passed_ = 0, failed_ = 0, skipped_ = 0;
};

using Kind = void (*)(const Options& options, Report& report);

// One kind per function; each reads options.cases itself.
void run_encode(const Options& options, Report& report);
void run_decode(const Options& options, Report& report);
void run_invalid_utf8(const Options& options, Report& report);
void run_ignore_merges(const Options& options, Report& report);
void run_chat_ids(const Options& options, Report& report);
void run_jinja(const Options& options, Report& report);
void run_templates(const Options& options, Report& report);
void run_prompts(const Options& options, Report& report);
void run_parse(const Options& options, Report& report);
void run_stream(const Options& options, Report& report);
void run_json_schema(const Options& options, Report& report);
void run_schema_walks(const Options& options, Report& report);
void run_logits(const Options& options, Report& report);
void run_greedy(const Options& options, Report& report);
void run_perplexity(const Options& options, Report& report);
void run_dequant(const Options& options, Report& report);
void run_rope(const Options& options, Report& report);
void run_bits(const Options& options, Report& report);
void run_demo(const Options& options, Report& report);
void run_sensitivity(const Options& options, Report& report);
void run_sampler(const Options& options, Report& report);

// JSON Lines: lines end in '\n' only. Calls `one` for each record; an exception from it fails that
// case with the record's "id" (or its line number) and the exception's text.
void for_each_record(const std::filesystem::path& file, Report& report,
                     const std::function<void(const Json& record, const std::string& id)>& one);

// A whole file. Throws Error{NotFound}.
std::string read_file(const std::filesystem::path& path);

// Throws Error{BadInput}: "--tokenizer is needed for this kind".
void require_option(const std::filesystem::path& value, std::string_view flag);

}  // namespace smol::conformance
