// What can be assigned to, and the parameters of macros.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "jinja/ast.h"
#include "jinja/expr_parser.h"

namespace smol::jinja {

class TargetParser : protected ExprParser {
 protected:
  using ExprParser::ExprParser;

  // A name, and its offset.
  std::pair<std::string, std::size_t> parse_name_target();
  // A name or a tuple of targets, marked as stored to; `with_namespace`: also ns.attribute.
  ExprPtr parse_target(bool with_namespace);
  static void set_use(Expr& target, NameUse use);
  // (a, b=1): fills the arguments, targets and defaults of `macro`.
  void parse_signature(MacroBody& macro);
};

}  // namespace smol::jinja
