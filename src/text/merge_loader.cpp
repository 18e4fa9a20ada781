#include "text/merge_loader.h"

#include "base/error.h"
#include "text/byte_chars.h"

namespace smol::text {
namespace {

[[noreturn]] void fail(std::uint32_t number, const std::string& what) {
  throw Error(ErrorCode::BadInput, "merge " + std::to_string(number) + ": " + what);
}

}  // namespace

MergeLoader::MergeLoader(const Vocabulary& vocabulary, std::size_t n_merges)
    : vocabulary_(vocabulary), table_(n_merges) {}

TokenId MergeLoader::token(std::string_view bytes, const char* role) const {
  const TokenId id = vocabulary_.find(bytes);
  if (id == kNoToken) {
    fail(rank_, std::string("the ") + role + " is not in the vocabulary");
  }
  return id;
}

void MergeLoader::add(std::string_view left, std::string_view right) {
  bytes_.clear();
  if (left.empty() || right.empty()) {
    fail(rank_, "expected two tokens, found an empty one");
  }
  if (!append_spelled_bytes(left, bytes_)) {
    fail(rank_, "the left half holds a character that stands for no byte");
  }
  const std::size_t border = bytes_.size();
  if (!append_spelled_bytes(right, bytes_)) {
    fail(rank_, "the right half holds a character that stands for no byte");
  }
  const std::string_view both = bytes_;
  const TokenId first = token(both.substr(0, border), "left half");
  const TokenId second = token(both.substr(border), "right half");
  if (!table_.add(first, second, {rank_, token(both, "result")})) {
    fail(rank_, "the same pair as an earlier merge");
  }
  ++rank_;
}

void MergeLoader::add(std::string_view spelled) {
  const std::size_t space = spelled.find(' ');
  if (space == std::string_view::npos || spelled.find(' ', space + 1) != std::string_view::npos) {
    fail(rank_, "expected two tokens with one space between them");
  }
  add(spelled.substr(0, space), spelled.substr(space + 1));
}

}  // namespace smol::text
