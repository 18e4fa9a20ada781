#include "jinja/resolver.h"

#include <set>
#include <string>
#include <utility>

#include "jinja/ast_walk.h"
#include "jinja/lexer.h"
#include "jinja/text.h"

namespace smol::jinja {

Resolver::Resolver(TemplateTree& tree)
    : tree_(tree), escaping_(tree.autoescape ? Escaping::On : Escaping::Off) {
  for (std::size_t at = 0; (at = tree.source.find('\n', at)) != std::string::npos; ++at) {
    newlines_.push_back(at);
  }
}

Resolver::Frame Resolver::Frame::softened() const {
  Frame copy = *this;
  copy.rootlevel = false;
  copy.soft = true;
  return copy;
}

void Resolver::fail(const std::string& message, std::size_t offset) {
  throw SyntaxError{message, offset};
}

void Resolver::run() {
  collect_blocks();
  FunctionScope function(nullptr);
  Symbols symbols(nullptr, function);
  if (find_undeclared(tree_.body, {"self"}).contains("self")) {
    tree_.self_slot = symbols.declare_parameter("self");
  }
  analyze_body(symbols, tree_.body);
  resolve_body(tree_.body, Frame{symbols, function, true, true});
  tree_.scope = symbols.scope();
  tree_.function = function.info();
  for (Block* block : blocks_) {
    resolve_block(*block);
  }
}

void Resolver::late_error(std::string message, std::size_t offset) {
  if (tree_.late_error.empty()) {
    tree_.late_error = std::move(message);
    tree_.late_error_offset = offset;
  }
}

void Resolver::collect_blocks() {
  std::set<std::string> names;
  for (StatementPtr& statement : tree_.body) {
    walk_deep(
        *statement, [](Expr&) {},
        [&](Statement& child) {
          auto* const block = child.as<Block>();
          if (block != nullptr && !names.insert(block->name).second) {
            fail("block " + quote(block->name) + " defined twice", child.offset);
          }
          if (block != nullptr) {
            blocks_.push_back(block);
            tree_.blocks.push_back(block);
          }
        });
  }
}

void Resolver::resolve_block(Block& block) {
  FunctionScope function(nullptr);
  Symbols symbols(nullptr, function);
  const auto undeclared = find_undeclared(block.body, {"self", "super"});
  if (undeclared.contains("self")) {
    block.self_slot = symbols.declare_parameter("self");
  }
  if (undeclared.contains("super")) {
    block.super_slot = symbols.declare_parameter("super");
  }
  analyze_body(symbols, block.body);
  resolve_body(block.body, Frame{symbols, function});
  block.scope = symbols.scope();
  block.function = function.info();
}

void Resolver::resolve_body(Body& body, const Frame& frame) {
  for (StatementPtr& statement : body) {
    resolve_statement(*statement, frame);
    const auto* const tag = statement->as<LoaderTag>();
    if (tag != nullptr && tag->tag == "extends" && frame.rootlevel) {
      return;  // nothing after it is ever compiled or run
    }
  }
}

void Resolver::resolve_statement(Statement& statement, const Frame& frame) {
  std::visit(Overload{
                 [&](Output& node) {
                   node.escaping = escaping_;
                   walk_all(node.parts, fold_slices);
                   resolve_all(node.parts, frame);
                 },
                 [&](If& node) { resolve_if(node, frame); },
                 [&](For& node) { resolve_for(node, statement, frame); },
                 [&](Macro& node) {
                   resolve_macro(node.macro, statement.offset, frame);
                   node.ref = frame.symbols.ref(node.macro.name);
                   node.exported = frame.toplevel && !blocks_.empty();
                 },
                 [&](CallBlock& node) {
                   resolve_macro(node.macro, statement.offset, frame);
                   resolve_expr(*node.call, frame);
                 },
                 [&](Generation& node) { resolve_macro(node.macro, statement.offset, frame); },
                 [&](FilterBlock& node) { resolve_filter_block(node, frame); },
                 [&](Assign& node) {
                   resolve_expr(*node.target, frame);
                   resolve_expr(*node.value, frame);
                   node.exported = frame.toplevel && !blocks_.empty();
                 },
                 [&](AssignBlock& node) { resolve_assign_block(node, frame); },
                 [&](With& node) { resolve_with(node, frame); },
                 [&](Autoescape& node) { resolve_autoescape(node, frame); },
                 [&](Block& node) {
                   if (node.scoped) {
                     node.visible = frame.symbols.visible_stores();
                   }
                 },
                 [&](LoaderTag& node) { resolve_loader_tag(node, statement.offset, frame); },
                 [&](Break&) { check_loop("break", statement.offset, frame); },
                 [&](Continue&) { check_loop("continue", statement.offset, frame); },
             },
             statement.node);
}

void Resolver::check_loop(std::string_view tag, std::size_t offset, const Frame& frame) {
  if (!frame.in_loop) {
    late_error(tag == "break" ? "'break' outside loop" : "'continue' not properly in loop", offset);
  }
}

void Resolver::resolve_loader_tag(LoaderTag& node, std::size_t offset, const Frame& frame) {
  if (node.tag == "extends" && !frame.toplevel) {
    fail("cannot use extend from a non top-level scope", offset);
  }
  resolve_expr(*node.source, frame);
}

void Resolver::resolve_if(If& node, const Frame& frame) {
  const Frame soft = frame.softened();
  for (auto& [test, body] : node.branches) {
    resolve_expr(*test, soft);
    resolve_body(body, soft);
  }
  resolve_body(node.otherwise, soft);
}

}  // namespace smol::jinja
