// Helpers of the tokenizer kinds.
#pragma once

#include <cstddef>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/json.h"
#include "conformance/conformance.h"
#include "text/tokenizer.h"

namespace smol::conformance {

using Ids = std::vector<TokenId>;

std::string show(const Ids& ids);
// As JSON, so that control characters stay readable.
std::string show(std::string_view text);

// One golden case: the first difference counts.
class Case {
 public:
  Case(Report& report, std::string id) : report_(report), id_(std::move(id)) {}

  // Passes unless a check failed.
  ~Case();
  Case(const Case&) = delete;
  Case& operator=(const Case&) = delete;

  template <typename T>
  bool equal(std::string_view what, const T& expected, const T& got) {
    if (expected == got) {
      return true;
    }
    fail(what, show(expected), show(got));
    return false;
  }

  void fail(std::string_view what, std::string_view expected, std::string_view got);

 private:
  Report& report_;
  std::string id_;
  bool failed_ = false;
  int uncaught_ = std::uncaught_exceptions();
};

// What a stream encoder returns for `text` cut at `cuts` (in order, within the text).
Ids encode_cut(const text::Tokenizer& tokenizer, std::string_view text, text::AddedTokens mode,
               const std::vector<std::size_t>& cuts);
// Every cut into two, and byte by byte.
bool check_all_cuts(Case& one, const text::Tokenizer& tokenizer, std::string_view text,
                    text::AddedTokens mode, const Ids& expected);

}  // namespace smol::conformance
