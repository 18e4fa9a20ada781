// What sessions are called.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "store/types.h"

namespace smol::store {

// A text as a title: its first line that says something, cut to 200 characters; "" if none does.
// A title stays as it is.
std::string title_line(std::string_view text);

// The title of a session that begins with this message, until there is a better one.
std::string first_title(std::string_view text, std::span<const Attachment> attachments);

}  // namespace smol::store
