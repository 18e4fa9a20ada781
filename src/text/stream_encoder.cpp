#include "text/stream_encoder.h"

#include <algorithm>
#include <utility>

#include "base/utf8.h"
#include "text/tokenizer_parts.h"
#include "text/unicode_classes.h"

namespace smol::text {
namespace {

constexpr std::size_t kAlwaysLook = 4096;

}  // namespace

void StreamEncoder::receive(std::string_view text) {
  incomplete_ += text;
  std::string_view rest = incomplete_;
  while (!rest.empty()) {
    const utf8::Step step = utf8::next(rest);
    if (step.kind == utf8::Step::Kind::Incomplete) {
      break;
    }
    utf8::append(held_, step.code_point);
    rest.remove_prefix(step.length);
  }
  incomplete_.erase(0, incomplete_.size() - rest.size());
}

std::vector<TokenId> StreamEncoder::push(std::string_view text) {
  receive(text);
  if (held_.size() < next_look_) {
    return {};
  }
  const TokenizerParts& parts = tokenizer_.impl_->parts;
  const AddedTokenSet::Range whole{0, held_.size()};
  const auto split = parts.added.split(held_, {&whole, 1}, mode_, progress_, true);
  std::vector<TokenId> ids;
  forget(append_split(parts, held_, split, true, ids), split);
  next_look_ = held_.size() <= kAlwaysLook ? 0 : held_.size() + held_.size() / 8;
  return ids;
}

// Drops the first `done` bytes and moves what the searches have to know of them.
void StreamEncoder::forget(std::size_t done, const AddedTokenSet::Split& split) {
  if (done > 0) {
    const std::size_t last = unicode::previous_start(held_, done);
    const bool word = (unicode::character_at(held_, last).classes & unicode::kWord) != 0;
    progress_.word_before = {word, word && done > split.sentence};
  }
  for (std::size_t pass = 0; pass < progress_.search_from.size(); ++pass) {
    progress_.search_from[pass] = std::max(split.progress.search_from[pass], done) - done;
  }
  held_.erase(0, done);
}

std::vector<TokenId> StreamEncoder::flush() {
  held_ += utf8::to_valid(std::exchange(incomplete_, {}));
  const TokenizerParts& parts = tokenizer_.impl_->parts;
  const AddedTokenSet::Range whole{0, held_.size()};
  const auto split = parts.added.split(held_, {&whole, 1}, mode_, progress_, false);
  std::vector<TokenId> ids;
  append_split(parts, held_, split, false, ids);
  held_.clear();
  progress_ = {};
  next_look_ = 0;
  return ids;
}

}  // namespace smol::text
