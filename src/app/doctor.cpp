#include "app/doctor.h"

#include <functional>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "app/doctor_checks.h"
#include "base/error.h"
#include "base/thread_pool.h"

namespace smol::app {
namespace {

constexpr std::string_view kGetAnother = "get another file, or convert the model again";

// Runs one check; what it cannot stand is a finding as well.
void guarded(std::string_view check, Findings& findings, const std::function<void()>& run) {
  try {
    run();
  } catch (const Error& error) {
    findings.fault(std::string(check), error.what(), std::string(kGetAnother));
  }
}

std::optional<text::Tokenizer> load_tokenizer(const gguf::File& file, Findings& findings) {
  try {
    return text::Tokenizer::from_gguf(file);
  } catch (const Error& error) {
    findings.fault("tokenizer", error.what(), "give another one with --tokenizer FILE");
    return std::nullopt;
  }
}

void examine_weights(const gguf::File& file, const std::optional<text::Tokenizer>& tokenizer,
                     Findings& findings) {
  const model::ModelConfig config = model::ModelConfig::from_gguf(file, std::nullopt);
  check_config(file, config, findings);
  ThreadPool pool(default_thread_count());
  const model::Weights weights(file, config, pool);
  check_tensors(file, weights, findings);
  if (tokenizer) {
    check_behaviour(weights, *tokenizer, pool, findings);
  }
}

std::string_view label(Finding::Level level) {
  switch (level) {
    case Finding::Level::Good:
      return "ok   ";
    case Finding::Level::Note:
      return "note ";
    case Finding::Level::Fault:
      break;
  }
  return "FAULT";
}

// Lines after the first are indented under it.
void print_indented(std::string_view text, std::ostream& out) {
  for (const char character : text) {
    out << character;
    if (character == '\n') {
      out << "         ";
    }
  }
  out << "\n";
}

std::size_t print_findings(std::string_view title, const std::vector<Finding>& findings,
                           std::ostream& out) {
  std::size_t n_faults = 0;
  out << title << "\n";
  for (const Finding& finding : findings) {
    out << "  " << label(finding.level) << "  " << finding.check << ": ";
    print_indented(finding.message, out);
    if (!finding.remedy.empty()) {
      out << "         remedy: ";
      print_indented(finding.remedy, out);
    }
    n_faults += finding.level == Finding::Level::Fault ? 1 : 0;
  }
  return n_faults;
}

}  // namespace

std::vector<Finding> examine_model(const std::filesystem::path& path) {
  Findings findings;
  std::optional<gguf::File> file;
  try {
    file.emplace(gguf::File::open(path));
    findings.good("file", fmt::format("GGUF version {}, {} tensors inside its {} bytes",
                                      file->version(), file->tensors().size(), file->size_bytes()));
  } catch (const Error& error) {
    findings.fault("file", error.what(), "download it again and compare its SHA-256");
    return findings.take();
  }
  guarded("vocabulary", findings, [&] { check_vocabulary(*file, findings); });
  guarded("merges", findings, [&] { check_merges(*file, findings); });
  guarded("template", findings, [&] { check_template(*file, findings); });
  const std::optional<text::Tokenizer> tokenizer = load_tokenizer(*file, findings);
  if (tokenizer) {
    check_tokenizer(*tokenizer, findings);
  }
  guarded("model", findings, [&] { examine_weights(*file, tokenizer, findings); });
  return findings.take();
}

int run_doctor(const DoctorOptions& options, std::ostream& out) {
  if (options.file && !std::filesystem::exists(*options.file)) {
    throw Error(ErrorCode::NotFound,
                options.file->string() + ": expected a model file, found no such file");
  }
  std::size_t n_faults = print_findings("Machine", examine_machine(), out);
  if (options.file) {
    n_faults += print_findings(options.file->string(), examine_model(*options.file), out);
  }
  const std::string_view noun = n_faults == 1 ? "fault" : "faults";
  out << (n_faults == 0 ? "no" : std::to_string(n_faults)) << " " << noun << "\n";
  return n_faults == 0 ? 0 : 1;
}

}  // namespace smol::app
