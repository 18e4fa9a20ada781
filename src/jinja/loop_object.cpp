#include "jinja/loop_object.h"

#include <algorithm>
#include <memory>
#include <string>

#include "jinja/arguments.h"
#include "jinja/compare.h"
#include "jinja/operators.h"

namespace smol::jinja {
namespace {

// loop.cycle and loop.changed. The loop outlives them: it is kept by the value they came from.
class LoopMethod final : public Object {
 public:
  LoopMethod(std::shared_ptr<LoopObject> loop, bool cycles)
      : loop_(std::move(loop)), cycles_(cycles) {}

  std::string_view type_name() const noexcept override { return "method"; }

  bool callable() const noexcept override { return true; }

  Value call(Runtime& runtime, const CallArgs& args) override {
    return cycles_ ? loop_->cycle(args) : Value::boolean(loop_->changed(runtime, args));
  }

 private:
  std::shared_ptr<LoopObject> loop_;
  bool cycles_;
};

Value no_item(std::string hint) {
  Undefined info;
  info.hint = std::move(hint);
  return Value::undefined(std::move(info));
}

}  // namespace

LoopObject::LoopObject(Interpreter& interpreter, Runtime& runtime, Value items, std::size_t depth0)
    : interpreter_(interpreter), items_(std::move(items)), depth0_(depth0) {
  iteration_.emplace(runtime, items_);
}

void LoopObject::set_recursion(const For& node, Activation* closure) noexcept {
  recursive_ = &node;
  closure_ = closure;
}

void LoopObject::clear() noexcept {
  items_ = Value();
  iteration_.reset();
  after_.reset();
  peeked_ = true;
  current_ = before_ = Value();
  last_changed_.reset();
}

std::optional<Value> LoopObject::advance(Runtime& runtime) {
  std::optional<Value> next = peeked_ ? std::move(after_) : iteration_->next(runtime);
  peeked_ = false;
  after_.reset();
  if (next) {
    ++index0_;
    before_ = std::move(current_);
    current_ = *next;
  }
  return next;
}

const std::optional<Value>& LoopObject::peek(Runtime& runtime) {
  if (!peeked_ || (!after_ && iteration_)) {
    after_ = iteration_->next(runtime);
    peeked_ = true;
  }
  return after_;
}

List LoopObject::read_rest(Runtime& runtime) {
  List rest;
  while (auto item = iteration_ ? iteration_->next(runtime) : std::nullopt) {
    runtime.budget().charge(sizeof(Value));
    rest.push_back(std::move(*item));
  }
  return rest;
}

std::int64_t LoopObject::count(Runtime& runtime) {
  if (!length_) {
    std::optional<std::size_t> size;
    if (!items_.is(Value::Kind::Object)) {
      size = smol::jinja::length(runtime, items_);
    } else {
      size = items_.object().length(runtime);
    }
    if (!size) {
      // A generator: read to its end, and go on with what was read.
      List rest = read_rest(runtime);
      size = rest.size() + static_cast<std::size_t>(index0_ + 1) + (peeked_ && after_ ? 1 : 0);
      iteration_.emplace(runtime, runtime.list(std::move(rest)));
    }
    length_ = static_cast<std::int64_t>(*size);
  }
  return *length_;
}

std::optional<std::size_t> LoopObject::length(Runtime& runtime) {
  return static_cast<std::size_t>(count(runtime));
}

MarkedString LoopObject::repr(Runtime& runtime) {
  const std::int64_t size = count(runtime);
  return {"<LoopContext " + std::to_string(index0_ + 1) + "/" + std::to_string(size) + ">",
          Origin::Template};
}

Value LoopObject::attribute(Runtime& runtime, std::string_view name) {
  if (name == "index") {
    return Value::integer(index0_ + 1);
  }
  if (name == "index0") {
    return Value::integer(index0_);
  }
  if (name == "first") {
    return Value::boolean(index0_ == 0);
  }
  if (name == "last") {
    return Value::boolean(!peek(runtime).has_value());
  }
  if (name == "length") {
    return Value::integer(count(runtime));
  }
  if (name == "revindex") {
    return Value::integer(count(runtime) - index0_);
  }
  if (name == "revindex0") {
    return Value::integer(count(runtime) - index0_ - 1);
  }
  if (name == "depth" || name == "depth0") {
    return Value::integer(static_cast<std::int64_t>(depth0_) + (name == "depth" ? 1 : 0));
  }
  if (name == "previtem") {
    return index0_ == 0 ? no_item("there is no previous item") : before_;
  }
  if (name == "nextitem") {
    const std::optional<Value>& next = peek(runtime);
    return next ? *next : no_item("there is no next item");
  }
  if (name == "cycle" || name == "changed") {
    return Value::object(std::make_shared<LoopMethod>(
        std::static_pointer_cast<LoopObject>(shared_from_this()), name == "cycle"));
  }
  return {};
}

Value LoopObject::cycle(const CallArgs& args) const {
  if (!args.keyword.empty()) {
    raise_type("cycle() got an unexpected keyword argument");
  }
  if (args.positional.empty()) {
    raise_type("no items for cycling given");
  }
  return args.positional[static_cast<std::size_t>(index0_) % args.positional.size()];
}

bool LoopObject::changed(Runtime& runtime, const CallArgs& args) {
  if (!args.keyword.empty()) {
    raise_type("changed() got an unexpected keyword argument");
  }
  const bool same = last_changed_ && last_changed_->size() == args.positional.size() &&
                    std::equal(last_changed_->begin(), last_changed_->end(),
                               args.positional.begin(), [&](const Value& a, const Value& b) {
                                 return a.same_as(b) || smol::jinja::equals(runtime.budget(), a, b);
                               });
  if (!same) {
    last_changed_ = args.positional;
  }
  return !same;
}

Value LoopObject::call(Runtime& /*runtime*/, const CallArgs& call) {
  const Bound args(call, {"loop", {"iterable"}, 1});
  if (recursive_ == nullptr) {
    raise_type("The loop must have the 'recursive' marker to be called recursively.");
  }
  return interpreter_.run_recursive_loop(*recursive_, closure_, args[0], depth0_ + 1);
}

}  // namespace smol::jinja
