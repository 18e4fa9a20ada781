#include "app/inspect.h"

#include <algorithm>
#include <string>
#include <type_traits>
#include <variant>

#include <fmt/format.h>

#include "app/inspect_facts.h"
#include "app/inspect_json.h"
#include "base/json.h"
#include "gguf/file.h"
#include "gguf/printable.h"

namespace smol::app {
namespace {

using gguf::printable;

constexpr std::size_t kShownElements = 4;
constexpr std::size_t kShownTemplateLines = 3;

std::string element_text(std::string_view text) {
  return '"' + printable(text, 40) + '"';
}

template <typename T>
std::string element_text(T value) {
  return fmt::format("{}", value);
}

std::string array_text(const gguf::MetadataValue& value, const gguf::Array& array) {
  return std::visit(
      [&](const auto& elements) {
        using Element = typename std::decay_t<decltype(elements)>::value_type;
        std::string shown;
        for (std::size_t i = 0; i < std::min(elements.size(), kShownElements); ++i) {
          shown += (i > 0 ? ", " : "") + element_text(static_cast<Element>(elements[i]));
        }
        const std::string_view more = elements.size() > kShownElements ? ", ..." : "";
        return fmt::format("{}, {} elements: [{}{}]", gguf::type_name(value), elements.size(),
                           shown, more);
      },
      array);
}

std::string value_text(const gguf::MetadataValue& value) {
  return std::visit(
      [&](const auto& held) -> std::string {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, gguf::Array>) {
          return array_text(value, held);
        } else if constexpr (std::is_same_v<Held, std::string_view>) {
          return '"' + printable(held, 200) + '"';
        } else {
          return fmt::format("{} ({})", held, gguf::type_name(value));
        }
      },
      value);
}

// "1.78 GiB"
std::string size_text(std::uint64_t n_bytes) {
  constexpr double kKib = 1024.0;
  const auto bytes = static_cast<double>(n_bytes);
  if (bytes < kKib * kKib) {
    return fmt::format("{:.1f} KiB", bytes / kKib);
  }
  if (bytes < kKib * kKib * kKib) {
    return fmt::format("{:.1f} MiB", bytes / (kKib * kKib));
  }
  return fmt::format("{:.2f} GiB", bytes / (kKib * kKib * kKib));
}

void print_metadata(const gguf::File& file, std::ostream& out) {
  out << fmt::format("\nMetadata: {} keys\n", file.metadata().entries().size());
  for (const auto& [key, value] : file.metadata().entries()) {
    out << fmt::format("  {} = {}\n", printable(key), value_text(value));
  }
}

void print_types(const InspectFacts& facts, std::ostream& out) {
  out << "\nTensors by type\n";
  for (const TypeTotal& total : facts.types) {
    const double share =
        100.0 * static_cast<double>(total.n_bytes) / static_cast<double>(facts.n_tensor_bytes);
    out << fmt::format("  {:7} {:5} tensors {:14} values {:14} bytes {:5.1f} %\n", total.name,
                       total.n_tensors, total.n_elements, total.n_bytes, share);
  }
}

void print_tensors(const gguf::File& file, const InspectFacts& facts, std::ostream& out) {
  out << fmt::format("\nTensors: {}, {} values in {} bytes ({})\n", file.tensors().size(),
                     facts.n_elements, facts.n_tensor_bytes, size_text(facts.n_tensor_bytes));
  for (const gguf::TensorView& tensor : file.tensors()) {
    std::string shape;
    for (const std::size_t axis : tensor.shape) {
      shape += (shape.empty() ? "" : ", ") + std::to_string(axis);
    }
    out << fmt::format("  {:32} {:7} {:20} {:12} bytes\n", printable(tensor.name),
                       gguf::traits(tensor.dtype).name, "[" + shape + "]", tensor.bytes.size());
  }
}

void print_template(const TemplateFacts& facts, std::ostream& out) {
  out << fmt::format("\nChat template: {} bytes, sha256 {}\n  {}\n", facts.text.size(),
                     facts.sha256, facts.variant);
  std::string_view rest = facts.text;
  for (std::size_t line = 0; line < kShownTemplateLines && !rest.empty(); ++line) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    out << "  | " << printable(rest.substr(0, end), 100) << "\n";
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

void print_tokenizer(const TokenizerFacts& facts, std::ostream& out) {
  out << fmt::format("\nTokenizer: model \"{}\", pre \"{}\", {} tokens, {} merges\n",
                     printable(facts.model), printable(facts.pre), facts.n_tokens, facts.n_merges);
  for (const auto& [name, count] : facts.tokens_by_type) {
    out << fmt::format("  {} tokens: {}\n", name, count);
  }
  for (const SpecialToken& token : facts.special) {
    const std::string text =
        token.text ? '"' + printable(*token.text) + '"' : "outside the vocabulary";
    out << fmt::format("  {}: {} {}\n", token.role, token.id, text);
  }
}

}  // namespace

int run_inspect(const InspectOptions& options, std::ostream& out) {
  const gguf::File file = gguf::File::open(options.file);
  const InspectFacts facts = gather_facts(file);
  if (options.json) {
    out << inspect_json(file, facts).dump(2) << "\n";
    return 0;
  }
  out << fmt::format("{}\n  GGUF version {}, {} bytes ({}), alignment {}\n",
                     printable(file.name(), 4096), file.version(), file.size_bytes(),
                     size_text(file.size_bytes()), file.alignment());
  print_metadata(file, out);
  print_types(facts, out);
  print_tensors(file, facts, out);
  if (facts.tokenizer) {
    print_tokenizer(*facts.tokenizer, out);
  }
  if (facts.chat_template) {
    print_template(*facts.chat_template, out);
  }
  return 0;
}

}  // namespace smol::app
