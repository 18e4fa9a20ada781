// The `attribute` arguments of filters: "a.b.0", or several with commas.
#pragma once

#include <vector>

#include "jinja/runtime.h"
#include "jinja/value.h"

namespace smol::jinja {

class AttributePath {
 public:
  // None: the item itself. `fallback` (unless Missing or None) replaces undefined values on the
  // way.
  explicit AttributePath(const Value& attribute, Value fallback = {});
  Value get(Runtime& runtime, const Value& item) const;

 private:
  List parts_;
  Value fallback_;
};

// Keys for sorting: one value for each of the attributes, strings in lower case unless
// `case_sensitive`.
class SortKey {
 public:
  SortKey(const Value& attributes, bool case_sensitive);
  Value get(Runtime& runtime, const Value& item) const;  // a list

 private:
  std::vector<AttributePath> paths_;
  bool case_sensitive_;
};

// Strings in lower case, anything else as it is.
Value ignore_case(Runtime& runtime, const Value& value);

}  // namespace smol::jinja
