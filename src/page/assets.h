// The page's fixed files, as HTTP serves them: with a version, so that a browser keeps them for
// good, with tags, and packed.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "page/web_files.h"
#include "server/http_message.h"

namespace smol::page {

// Immutable: any thread.
class Assets {
 public:
  // Takes what lies in "static/"; the bytes must outlive it.
  explicit Assets(std::span<const WebFile> files);

  // The same for the same files: what templates put behind "?v=".
  const std::string& version() const noexcept { return version_; }

  // The file of that path below "static/"; 404 for another. Asked for by the current version it may
  // be kept for a year, else it is asked for again by its tag (304).
  server::HttpResponse get(std::string_view path, const server::HttpRequest& request) const;

 private:
  struct Asset {
    std::string_view bytes;
    std::string packed;  // by gzip, where that is shorter
    std::string tag;
    std::string_view type;
  };

  std::map<std::string, Asset, std::less<>> assets_;
  std::string version_;
};

}  // namespace smol::page
