// The files of web/, which the build puts into the program (cmake/web_files.cmake).
#pragma once

#include <span>
#include <string_view>

namespace smol::page {

struct WebFile {
  std::string_view path;  // below web/: "static/app.js", "templates/pages/chat.html.jinja"
  std::string_view bytes;
};

// In the order of their paths.
std::span<const WebFile> web_files() noexcept;

}  // namespace smol::page
