#include "text/stream_decoder.h"

#include <utility>

#include "base/utf8.h"

namespace smol::text {
namespace {

// The first two bytes of a surrogate: broken already, but the third is waited for, as Python's
// incremental decoder does.
bool is_surrogate_start(std::string_view bytes) {
  return bytes.size() == 2 && bytes[0] == '\xED' && static_cast<unsigned char>(bytes[1]) >= 0xA0 &&
         static_cast<unsigned char>(bytes[1]) <= 0xBF;
}

}  // namespace

std::string StreamDecoder::push(TokenId id) {
  return push(std::span(&id, 1));
}

std::string StreamDecoder::push(std::span<const TokenId> ids) {
  for (const TokenId id : ids) {
    if (!skip_special_ || !tokenizer_.is_special(id)) {
      held_ += tokenizer_.bytes_of(id);
    }
  }
  std::string shown;
  std::string_view rest = held_;
  while (!rest.empty()) {
    const utf8::Step step = utf8::next(rest);
    if (step.kind == utf8::Step::Kind::Incomplete || is_surrogate_start(rest)) {
      break;
    }
    utf8::append(shown, step.code_point);
    rest.remove_prefix(step.length);
  }
  held_.erase(0, held_.size() - rest.size());
  return shown;
}

std::string StreamDecoder::flush() {
  return utf8::to_valid(std::exchange(held_, {}));
}

}  // namespace smol::text
