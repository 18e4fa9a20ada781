// cycler() and joiner()
#include <string>

#include "jinja/arguments.h"
#include "jinja/fault.h"
#include "jinja/objects.h"

namespace smol::jinja {
namespace {

std::uint32_t deepest(const List& items) {
  std::uint32_t depth = 0;
  for (const Value& item : items) {
    depth = std::max(depth, item.depth());
  }
  return depth;
}

class Cycler final : public Object {
 public:
  explicit Cycler(List items) : Object(deepest(items) + 1), items_(std::move(items)) {}

  std::string_view type_name() const noexcept override { return "Cycler"; }

  std::string type_repr() const override { return "jinja2.utils.Cycler object"; }

  Value attribute(Runtime& runtime, std::string_view name) override {
    if (name == "current") {
      return items_[position_];
    }
    if (name == "pos") {
      return Value::integer(static_cast<std::int64_t>(position_));
    }
    if (name == "items") {
      return runtime.tuple(items_);
    }
    if (name == "next" || name == "reset") {
      return Value::object(std::make_shared<Step>(
          std::static_pointer_cast<Cycler>(shared_from_this()), name == "next"));
    }
    return {};
  }

 private:
  // The methods next() and reset().
  class Step final : public Object {
   public:
    Step(std::shared_ptr<Cycler> cycler, bool advances)
        : Object(cycler->depth() + 1), cycler_(std::move(cycler)), advances_(advances) {}

    std::string_view type_name() const noexcept override { return "method"; }

    bool callable() const noexcept override { return true; }

    Value call(Runtime& /*runtime*/, const CallArgs& args) override {
      bind_nothing(args, advances_ ? "next" : "reset");
      if (!advances_) {
        cycler_->position_ = 0;
        return Value::none();
      }
      Value current = cycler_->items_[cycler_->position_];
      cycler_->position_ = (cycler_->position_ + 1) % cycler_->items_.size();
      return current;
    }

   private:
    std::shared_ptr<Cycler> cycler_;
    bool advances_;
  };

  List items_;
  std::size_t position_ = 0;
};

class Joiner final : public Object {
 public:
  explicit Joiner(Value separator)
      : Object(separator.depth() + 1), separator_(std::move(separator)) {}

  std::string_view type_name() const noexcept override { return "Joiner"; }

  std::string type_repr() const override { return "jinja2.utils.Joiner object"; }

  bool callable() const noexcept override { return true; }

  Value call(Runtime& /*runtime*/, const CallArgs& args) override {
    bind_nothing(args, "__call__");
    if (used_) {
      return separator_;
    }
    used_ = true;
    return Value::string({}, Origin::Template);
  }

  Value attribute(Runtime& /*runtime*/, std::string_view name) override {
    if (name == "used") {
      return Value::boolean(used_);
    }
    return name == "sep" ? separator_ : Value();
  }

 private:
  Value separator_;
  bool used_ = false;
};

}  // namespace

Value make_cycler(Runtime& runtime, List items) {
  if (items.empty()) {
    raise(FaultKind::Runtime, "at least one item has to be provided");
  }
  runtime.budget().charge(items.size(), sizeof(Value));
  return Value::object(std::make_shared<Cycler>(std::move(items)));
}

Value make_joiner(Runtime& runtime, Value separator) {
  runtime.budget().charge(sizeof(Value) * 4);
  return Value::object(std::make_shared<Joiner>(std::move(separator)));
}

}  // namespace smol::jinja
