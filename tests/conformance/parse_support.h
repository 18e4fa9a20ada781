// What the kinds `parse` and `stream` share: modes, pieces and expectations of output parsing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "chat/output_parser.h"

namespace smol::conformance {

chat::OutputMode mode_of(const Json& mode);

// `raw` cut at its tags, which become tag pieces.
std::vector<chat::Piece> pieces_of(std::string_view raw);

// reasoning_content, content, tool_calls (arguments as values), code_blocks, finish_reason.
Json result_of(const chat::ParsedOutput& output, const std::string& stop);

}  // namespace smol::conformance
