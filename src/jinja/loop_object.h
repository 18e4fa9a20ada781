// The special variable `loop`.
#pragma once

#include <optional>

#include "jinja/interpreter.h"
#include "jinja/iteration.h"
#include "jinja/object.h"

namespace smol::jinja {

class LoopObject final : public Object {
 public:
  // `recursion`: the loop's node if it is recursive, else null.
  LoopObject(Interpreter& interpreter, Runtime& runtime, Value items, std::size_t depth0);
  void set_recursion(const For& node, Activation* closure) noexcept;

  // Moves on to the next item; nullopt at the end.
  std::optional<Value> advance(Runtime& runtime);
  void clear() noexcept override;

  std::string_view type_name() const noexcept override { return "LoopContext"; }

  std::string type_repr() const override { return "jinja2.runtime.LoopContext object"; }

  MarkedString repr(Runtime& runtime) override;
  Value attribute(Runtime& runtime, std::string_view name) override;

  bool callable() const noexcept override { return true; }

  Value call(Runtime& runtime, const CallArgs& args) override;
  std::optional<std::size_t> length(Runtime& runtime) override;

  Value cycle(const CallArgs& args) const;
  bool changed(Runtime& runtime, const CallArgs& args);

 private:
  std::int64_t count(Runtime& runtime);
  // The items that no one has asked for yet.
  List read_rest(Runtime& runtime);
  const std::optional<Value>& peek(Runtime& runtime);

  Interpreter& interpreter_;
  const For* recursive_ = nullptr;
  Activation* closure_ = nullptr;
  Value items_;
  std::optional<Iteration> iteration_;
  std::int64_t index0_ = -1;
  std::size_t depth0_;
  std::optional<std::int64_t> length_;
  bool peeked_ = false;
  std::optional<Value> after_;
  Value current_, before_;
  std::optional<List> last_changed_;
};

}  // namespace smol::jinja
