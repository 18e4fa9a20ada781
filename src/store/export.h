// Sessions as text for people and programs.
#pragma once

#include <string>
#include <vector>

#include "store/transcript.h"

namespace smol::store {

// The whole tree with settings and figures, as import.h reads it again: exporting what was imported
// gives the same bytes.
std::string to_json(const std::vector<Transcript>& transcripts);

// The active path for reading: thoughts folded, tool calls and attachments fenced.
std::string to_markdown(const Transcript& transcript);

}  // namespace smol::store
