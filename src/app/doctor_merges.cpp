// A list of merges is of one of two kinds: as trained, one merge a token in the order of the ids
// (SmolLM2, the demo), or derived from ranks, every split of every token into two tokens (Llama 3,
// SmolLM3).
#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/doctor_checks.h"
#include "base/utf8.h"
#include "gguf/printable.h"

namespace smol::app {
namespace {

using gguf::printable;
using Id = std::size_t;

constexpr std::size_t kLongestToken = 1024;  // bytes; longer ones are not tried for every split

struct Merge {
  Id left, right, result;
};

// Tokens of ordinary text by their characters.
class Pieces {
 public:
  Pieces(std::span<const std::string_view> tokens, std::span<const std::int64_t> types) {
    for (Id id = 0; id < tokens.size() && id < types.size(); ++id) {
      if (types[id] == kNormalToken) {
        ids_.emplace(tokens[id], id);
        if (utf8::length(tokens[id]) > 1) {
          joined_.push_back(id);
        }
      }
    }
  }

  std::optional<Id> find(std::string_view text) const {
    const auto found = ids_.find(text);
    return found == ids_.end() ? std::nullopt : std::optional(found->second);
  }

  // Ids of tokens of two characters or more, rising.
  std::span<const Id> joined() const noexcept { return joined_; }

 private:
  std::unordered_map<std::string_view, Id> ids_;
  std::vector<Id> joined_;
};

std::optional<Merge> parse_merge(std::string_view line, const Pieces& pieces) {
  const std::size_t space = line.find(' ');
  if (space == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view left = line.substr(0, space);
  const std::string_view right = line.substr(space + 1);
  const auto left_id = pieces.find(left);
  const auto right_id = pieces.find(right);
  const auto result_id = pieces.find(std::string(left) + std::string(right));
  if (!left_id || !right_id || !result_id) {
    return std::nullopt;
  }
  return Merge{*left_id, *right_id, *result_id};
}

// Splits of one token into two, by rank of the left and then of the right part.
std::vector<std::pair<Id, Id>> splits_of(std::string_view token, const Pieces& pieces) {
  std::vector<std::pair<Id, Id>> splits;
  for (std::size_t at = 1; at < token.size(); ++at) {
    const bool inside_character = (static_cast<unsigned char>(token[at]) & 0xC0U) == 0x80U;
    if (inside_character) {
      continue;
    }
    const auto left = pieces.find(token.substr(0, at));
    const auto right = pieces.find(token.substr(at));
    if (left && right) {
      splits.emplace_back(*left, *right);
    }
  }
  std::sort(splits.begin(), splits.end());
  return splits;
}

// nullopt where a token is too long to be tried.
std::optional<std::vector<Merge>> derived_merges(std::span<const std::string_view> tokens,
                                                 const Pieces& pieces) {
  std::vector<Merge> merges;
  for (const Id id : pieces.joined()) {
    if (tokens[id].size() > kLongestToken) {
      return std::nullopt;
    }
    for (const auto& [left, right] : splits_of(tokens[id], pieces)) {
      merges.push_back({left, right, id});
    }
  }
  return merges;
}

struct Checker {
  std::span<const std::string_view> tokens;
  std::span<const std::string_view> lines;
  const Pieces& pieces;
  Findings& findings;

  std::string name(Id id) const { return fmt::format("\"{}\" ({})", printable(tokens[id]), id); }

  void fault(const std::string& message) const {
    findings.fault("merges", "tokenizer.ggml.merges: " + message,
                   std::string(kConvertOrGiveTokenizer));
  }

  // Every token of two characters or more is the result of some merge.
  bool all_made(std::span<const Merge> merges) const {
    std::vector<bool> made(tokens.size(), false);
    for (const Merge& merge : merges) {
      made[merge.result] = true;
    }
    std::size_t n_unmade = 0;
    Id first = 0;
    for (const Id id : pieces.joined()) {
      if (!made[id] && n_unmade++ == 0) {
        first = id;
      }
    }
    if (n_unmade > 0) {
      fault(fmt::format("expected a merge for each of {} tokens, found none for {}, as {}",
                        pieces.joined().size(), n_unmade, name(first)));
    }
    return n_unmade == 0;
  }

  // A trained list: results in the order of the ids.
  bool in_order(std::span<const Merge> merges) const {
    for (std::size_t i = 1; i < merges.size(); ++i) {
      if (merges[i].result <= merges[i - 1].result) {
        fault(
            fmt::format("expected tokens in the order of their ids, found {} made by line {} "
                        "after {}",
                        name(merges[i].result), i, name(merges[i - 1].result)));
        return false;
      }
    }
    return true;
  }

  // A derived list: exactly the splits that the vocabulary allows.
  bool complete(std::span<const Merge> merges) const {
    const auto derived = derived_merges(tokens, pieces);
    if (!derived) {
      return true;
    }
    const auto same = [](const Merge& a, const Merge& b) {
      return a.left == b.left && a.right == b.right;
    };
    const auto [found, expected] =
        std::mismatch(merges.begin(), merges.end(), derived->begin(), derived->end(), same);
    if (found == merges.end() && expected == derived->end()) {
      return true;
    }
    const std::string wanted =
        expected == derived->end()
            ? "its end"
            : fmt::format("{} + {}", name(expected->left), name(expected->right));
    fault(
        fmt::format("expected the {} merges that the vocabulary allows, found {}; line {} "
                    "should be {}",
                    derived->size(), merges.size(), found - merges.begin(), wanted));
    return false;
  }

  std::optional<std::vector<Merge>> parse() const {
    std::vector<Merge> merges;
    for (const std::string_view line : lines) {
      const std::optional<Merge> merge = parse_merge(line, pieces);
      if (!merge) {
        fault(fmt::format("line {}: expected two tokens that make a third, found \"{}\"",
                          merges.size(), printable(line)));
        return std::nullopt;
      }
      merges.push_back(*merge);
    }
    return merges;
  }
};

}  // namespace

void check_merges(const gguf::File& file, Findings& findings) {
  using Strings = std::span<const std::string_view>;
  const gguf::Metadata& metadata = file.metadata();
  const Strings tokens = metadata.strings("tokenizer.ggml.tokens").value_or(Strings{});
  const Strings lines = metadata.strings("tokenizer.ggml.merges").value_or(Strings{});
  const auto types = metadata.integers("tokenizer.ggml.token_type");
  const Pieces pieces(tokens, types ? *types : std::vector<std::int64_t>{});
  const Checker checker{tokens, lines, pieces, findings};
  const std::optional<std::vector<Merge>> merges = checker.parse();
  if (!merges || !checker.all_made(*merges)) {
    return;
  }
  const bool is_trained = merges->size() == pieces.joined().size();
  const bool is_right = is_trained ? checker.in_order(*merges) : checker.complete(*merges);
  if (is_right) {
    findings.good("merges",
                  fmt::format("{} merges make {} tokens", merges->size(), pieces.joined().size()));
  }
}

}  // namespace smol::app
