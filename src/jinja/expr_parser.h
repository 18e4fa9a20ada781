// The expression half of the parser.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "jinja/ast.h"
#include "jinja/token_stream.h"

namespace smol::jinja {

class ExprParser : protected TokenStream {
 protected:
  using TokenStream::TokenStream;

  struct TupleOptions {
    bool simplified = false;  // names and literals only
    bool with_conditional = true;
    bool explicit_parentheses = false;
    bool with_namespace = false;
  };

  ExprPtr parse_expression(bool with_conditional = true);
  ExprPtr parse_tuple(const TupleOptions& options);

  ExprPtr parse_tuple() { return parse_tuple(TupleOptions{}); }

  ExprPtr parse_primary(bool with_namespace = false);
  // `input`: null for the body of a filter block. `inline_start`: no | before the first filter.
  ExprPtr parse_filter(ExprPtr input, bool inline_start = false);

  template <class Node>
  ExprPtr make(std::size_t offset, Node node) {
    auto expr = std::make_unique<Expr>(Expr{offset, 0, std::move(node)});
    set_depth(*expr);
    return expr;
  }

  // One more level of the grammar's recursion while it lives.
  class Nesting {
   public:
    explicit Nesting(ExprParser& parser) : parser_(parser) { parser.enter(); }

    ~Nesting() { --parser_.nesting_; }

    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    ExprParser& parser_;
  };

 private:
  void enter();
  void set_depth(Expr& expr) const;
  bool is_tuple_end() const noexcept;

  ExprPtr parse_conditional();
  ExprPtr parse_or();
  ExprPtr parse_and();
  ExprPtr parse_not();
  ExprPtr parse_compare();
  ExprPtr parse_sum();
  ExprPtr parse_concat();
  ExprPtr parse_product();
  ExprPtr parse_power();
  ExprPtr parse_unary(bool with_filter = true);
  ExprPtr parse_name(bool with_namespace);
  ExprPtr parse_string();
  ExprPtr parse_list();
  ExprPtr parse_dict();
  ExprPtr parse_postfix(ExprPtr expr);
  ExprPtr parse_filters_and_tests(ExprPtr expr);
  ExprPtr parse_subscript(ExprPtr object);
  ExprPtr parse_slice();
  ExprPtr parse_call(ExprPtr callee);
  Arguments parse_arguments();
  ExprPtr parse_test(ExprPtr input);
  std::string parse_dotted_name();

  std::size_t nesting_ = 0;
};

}  // namespace smol::jinja
