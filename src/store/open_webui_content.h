// What an Open WebUI message says: its `output` items, or a `content` in which thoughts and tool
// calls stand as HTML (<details type="reasoning">), as earlier versions wrote it.
#pragma once

#include <string>
#include <vector>

#include "store/import_readers.h"
#include "store/types.h"

namespace smol::store {

// The content: a string, or the text parts of a list.
std::string open_webui_text(const Field& message);

// The parts of an assistant's message.
std::vector<Part> open_webui_parts(const Field& message, const ImportJob& job);

}  // namespace smol::store
