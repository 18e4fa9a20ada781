// The first bytes choose mode and cuts, the rest is what a model wrote. Streamed in any way it must
// add up to the whole, nothing may be lost, and calls must be valid.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/json.h"
#include "chat/output_parser.h"
#include "chat/space.h"
#include "chat/stop_strings.h"

namespace {

using smol::chat::OutputMode;
using smol::chat::ParsedOutput;
using smol::chat::Piece;
using smol::chat::StopStrings;

OutputMode mode_of(unsigned bits) {
  OutputMode mode;
  mode.tools = (bits & 1U) != 0;
  mode.python_tools = (bits & 2U) != 0;
  mode.reasoning_open = (bits & 4U) != 0;
  if ((bits & 8U) != 0) {
    mode.token_tags.set();
  }
  return mode;
}

// Cut after as many bytes as `cuts` say, in turn; with `tags`, tags become pieces of their own.
std::vector<Piece> pieces_of(std::string_view text, std::string_view cuts, bool tags) {
  std::vector<Piece> out;
  std::size_t turn = 0;
  const auto starts_with = [&](std::string_view tag) { return text.substr(0, tag.size()) == tag; };
  while (!text.empty()) {
    const auto* tag = std::ranges::find_if(smol::chat::kTagTexts, starts_with);
    if (tags && tag != smol::chat::kTagTexts.end()) {
      out.push_back({std::string(*tag), true});
      text.remove_prefix(tag->size());
      continue;
    }
    const unsigned wanted = static_cast<unsigned char>(cuts[turn++ % cuts.size()]) % 16U + 1U;
    std::size_t size = std::min<std::size_t>(wanted, text.size());
    if (tags) {
      size = std::max<std::size_t>(1, std::min(size, text.find('<', 1)));
    }
    out.push_back({std::string(text.substr(0, size)), false});
    text.remove_prefix(size);
  }
  return out;
}

std::string without_space(std::string_view text) {
  std::string out;
  std::ranges::copy_if(text, std::back_inserter(out),
                       [](char c) { return !smol::chat::is_space(c); });
  return out;
}

void check_calls(const ParsedOutput& output) {
  for (const auto& call : output.tool_calls) {
    SMOL_CHECK(!call.name.empty());
    SMOL_CHECK(smol::parse_json(call.arguments, "arguments").is_object());
  }
}

void check_stops(const std::vector<Piece>& pieces, std::string_view text) {
  StopStrings stops({"</", "ab"});
  std::string shown;
  for (const Piece& piece : pieces) {
    for (const Piece& released : stops.push(piece)) {
      shown += released.text;
    }
  }
  for (const Piece& released : stops.flush()) {
    shown += released.text;
  }
  SMOL_CHECK(text.substr(0, shown.size()) == shown);
  SMOL_CHECK(shown.find("</") == std::string::npos && shown.find("ab") == std::string::npos);
  SMOL_CHECK(stops.stopped() || shown == text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kHeader = 4;
  if (size < kHeader) {
    return 0;
  }
  const std::string bytes(data, data + size);
  const OutputMode mode = mode_of(data[0]);
  const std::string_view text = std::string_view(bytes).substr(kHeader);
  const bool tags = mode.token_tags.any();
  const auto whole_pieces = pieces_of(text, "\x0f", tags);
  const auto cut_pieces = pieces_of(text, std::string_view(bytes).substr(1, 3), tags);
  const ParsedOutput whole = smol::chat::parse_output(whole_pieces, mode);
  SMOL_CHECK(smol::chat::parse_output(cut_pieces, mode) == whole);
  check_calls(whole);
  check_stops(cut_pieces, text);
  if (!mode.tools && !mode.python_tools && whole.reasoning.empty() && !mode.reasoning_open) {
    const std::string kept = without_space(whole.content);
    const std::string all = without_space(text);
    SMOL_CHECK(all.size() >= kept.size() && all.substr(all.size() - kept.size()) == kept);
  }
  return 0;
}
