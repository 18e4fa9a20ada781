// A JSON Schema's text as a document: paths, references, the draft it declares.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "base/error.h"
#include "base/json.h"

namespace smol::grammar {

// One thread. Keeps a reference to the schema.
class SchemaDocument {
 public:
  // Bounds on the schema, so that its compilation is bounded.
  static constexpr std::size_t kMaxValues = 200'000;
  static constexpr int kMaxDepth = 300;

  // Throws Error{Exhausted} beyond the bounds.
  explicit SchemaDocument(const Json& root);

  const Json& root() const noexcept { return root_; }

  // Up to draft 7 `$ref` hides the keywords beside it.
  bool ref_hides_siblings() const noexcept { return ref_hides_siblings_; }

  // JSON pointer of a value inside of the document ("" is the root).
  std::string path_of(const Json& value) const;

  // The same for messages: "/" for the root.
  std::string place_of(const Json& value) const;

  // The schema that `holder`'s "$ref" names. Throws Error{Unsupported} for one outside of the
  // document, Error{BadInput} for one that leads nowhere.
  const Json& resolve(const Json& holder);

  // Throws Error{code}: the path of `holder`'s keyword, the keyword, then `what`.
  [[noreturn]] void fail(ErrorCode code, const Json& holder, std::string_view keyword,
                         std::string_view what) const;

 private:
  void collect_ids(const Json& value, int depth);
  const Json* follow_pointer(std::string_view pointer) const;
  void check_base(const Json& holder) const;

  const Json& root_;
  bool ref_hides_siblings_ = false;
  std::size_t n_values_ = 0;
  std::unordered_map<std::string, const Json*> ids_;  // URIs and #anchors
  std::unordered_map<const Json*, const Json*> resolved_;
};

}  // namespace smol::grammar
