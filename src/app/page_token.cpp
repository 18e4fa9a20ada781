#include "app/page_token.h"

#include <span>
#include <sstream>
#include <string_view>

#include "app/sha256.h"
#include "base/error.h"
#include "base/mapped_file.h"
#include "base/output_file.h"
#include "server/random_id.h"

namespace smol::app {

namespace {

constexpr std::string_view kName = "page_token";

// Who takes a key away also signs out those who came in by it.
std::string mark_of(const std::string& token, const std::vector<std::string>& keys) {
  std::string text = token;
  for (const std::string& key : keys) {
    text += "\n" + key;
  }
  return sha256_hex(text);
}

// "" where it cannot be read.
std::string text_of(const std::filesystem::path& path) {
  try {
    const MappedFile file(path);
    std::string text(file.bytes().size(), '\0');
    file.read(0, std::as_writable_bytes(std::span(text)));
    return text;
  } catch (const Error&) {
    return "";
  }
}

}  // namespace

std::string page_token(const std::filesystem::path& folder, const std::vector<std::string>& keys) {
  std::istringstream file(text_of(folder / kName));
  std::string token, mark;
  if (file >> token >> mark && mark == mark_of(token, keys)) {
    return token;
  }
  return server::random_id();
}

void keep_page_token(const std::filesystem::path& folder, const std::vector<std::string>& keys,
                     const std::string& token) {
  if (keys.empty()) {
    return;
  }
  OutputFile file(folder / kName, {.replace = true, .owner_only = true});
  file.write(token + " " + mark_of(token, keys) + "\n");
  file.finish();
}

}  // namespace smol::app
