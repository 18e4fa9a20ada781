// smolbot_conformance KIND --cases FILE [options]: exit status 0 only without failures.
#include <array>
#include <cstdio>
#include <exception>
#include <string>

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "conformance/conformance.h"

namespace smol::conformance {
namespace {

struct Entry {
  std::string_view name;
  Kind run;
};

constexpr std::array kKinds{
    Entry{"encode", run_encode},
    Entry{"decode", run_decode},
    Entry{"invalid-utf8", run_invalid_utf8},
    Entry{"ignore-merges", run_ignore_merges},
    Entry{"chat-ids", run_chat_ids},
    Entry{"jinja", run_jinja},
    Entry{"templates", run_templates},
    Entry{"parse", run_parse},
    Entry{"stream", run_stream},
    Entry{"json-schema", run_json_schema},
    Entry{"json-schema-walks", run_schema_walks},
    Entry{"logits", run_logits},
    Entry{"greedy", run_greedy},
    Entry{"perplexity", run_perplexity},
    Entry{"dequant", run_dequant},
    Entry{"rope", run_rope},
    Entry{"sampler", run_sampler},
    Entry{"prompts", run_prompts},
    Entry{"bits", run_bits},
    Entry{"demo", run_demo},
    Entry{"sensitivity", run_sensitivity},
};

Kind find_kind(const std::string& name) {
  std::string known;
  for (const Entry& entry : kKinds) {
    if (entry.name == name) {
      return entry.run;
    }
    known += (known.empty() ? "" : ", ") + std::string(entry.name);
  }
  throw Error(ErrorCode::BadInput, "KIND: expected one of " + known + ", found " + name);
}

int run(int argc, char** argv) {
  CLI::App app{"Runs golden cases against smolbot's parts", "smolbot_conformance"};
  std::string kind;
  Options options;
  app.add_option("KIND", kind)->required();
  app.add_option("--cases", options.cases)->required()->check(CLI::ExistingFile);
  app.add_option("--tokenizer", options.tokenizer)->check(CLI::ExistingFile);
  app.add_option("--tokenizers", options.tokenizers)->check(CLI::ExistingDirectory);
  app.add_flag("--gguf", options.gguf);
  app.add_option("--templates", options.templates)->check(CLI::ExistingDirectory);
  app.add_option("--contexts", options.contexts)->check(CLI::ExistingFile);
  app.add_option("--models", options.models)->check(CLI::ExistingDirectory);
  app.add_option("--kv-type", options.kv_type)->check(CLI::IsMember({"f32", "f16", "int8"}));
  app.add_option("--threads", options.threads)->check(CLI::Range(1, 1024));
  app.add_option("--chunk", options.chunk)->check(CLI::Range(1, 1 << 20));
  app.add_option("--max-tokens", options.max_tokens)->check(CLI::Range(1, 1 << 20));
  app.add_option("--min-tokens", options.min_tokens)->check(CLI::Range(1, 1 << 20));
  app.add_option("--only", options.only);
  app.add_option("--mistake", options.mistake);
  CLI11_PARSE(app, argc, argv);
  Report report;
  find_kind(kind)(options, report);
  if (report.skipped() > 0) {
    std::printf("%zu skipped\n", report.skipped());
  }
  std::printf("%zu passed, %zu failed\n", report.passed(), report.failed());
  return report.failed() == 0 ? 0 : 1;
}

}  // namespace
}  // namespace smol::conformance

int main(int argc, char** argv) {
  try {
    return smol::conformance::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "smolbot_conformance: %s\n", error.what());
    return 2;
  }
}
