#include "app/pieces.h"

#include <fmt/format.h>

#include "base/utf8.h"

namespace smol::app {

namespace {

std::string shown_character(const utf8::Step& step, std::string_view bytes) {
  if (step.code_point == U'\n') {
    return "\\n";
  }
  if (step.code_point == U'\t') {
    return "\\t";
  }
  if (step.code_point == U'\r') {
    return "\\r";
  }
  const bool control =
      step.code_point < U' ' || (step.code_point >= U'\x7f' && step.code_point < U'\xa0');
  if (step.kind == utf8::Step::Kind::Character && !control) {
    return std::string(bytes);
  }
  std::string out;
  for (const char byte : bytes) {
    out += fmt::format("\\x{:02x}", static_cast<unsigned>(static_cast<unsigned char>(byte)));
  }
  return out;
}

}  // namespace

std::string shown_piece(std::string_view bytes) {
  std::string out = "'";
  while (!bytes.empty()) {
    const utf8::Step step = utf8::next(bytes);
    out += shown_character(step, bytes.substr(0, step.length));
    bytes.remove_prefix(step.length);
  }
  return out + "'";
}

}  // namespace smol::app
