// range(start, stop, step)
#include <optional>
#include <string>

#include "jinja/arguments.h"
#include "jinja/compare.h"
#include "jinja/fault.h"
#include "jinja/methods.h"
#include "jinja/objects.h"
#include "jinja/operators.h"
#include "jinja/slice_bounds.h"

namespace smol::jinja {
namespace {

std::uint64_t range_size(std::int64_t start, std::int64_t stop, std::int64_t step) noexcept {
  const bool empty = step > 0 ? start >= stop : start <= stop;
  if (empty) {
    return 0;
  }
  const auto first = static_cast<std::uint64_t>(start);
  const auto last = static_cast<std::uint64_t>(stop);
  const std::uint64_t span = step > 0 ? last - first : first - last;
  const std::uint64_t stride =
      step > 0 ? static_cast<std::uint64_t>(step) : 0 - static_cast<std::uint64_t>(step);
  return (span - 1) / stride + 1;
}

class RangeObject final : public Object {
 public:
  RangeObject(std::int64_t start, std::int64_t stop, std::int64_t step, std::size_t size)
      : start_(start), stop_(stop), step_(step), size_(size) {}

  std::string_view type_name() const noexcept override { return "range"; }

  MarkedString repr(Runtime& /*runtime*/) override {
    const std::string step = step_ == 1 ? "" : ", " + std::to_string(step_);
    return {"range(" + std::to_string(start_) + ", " + std::to_string(stop_) + step + ")",
            Origin::Input};
  }

  std::optional<std::size_t> length(Runtime& /*runtime*/) override { return size_; }

  bool iterable() const noexcept override { return true; }

  std::shared_ptr<ValueIterator> iterate(Runtime& /*runtime*/) override {
    return std::make_shared<Counter>(start_, step_, size_);
  }

  std::shared_ptr<ValueIterator> iterate_reversed(Runtime& /*runtime*/) override {
    return std::make_shared<Counter>(size_ == 0 ? 0 : at(size_ - 1), -step_, size_);
  }

  Value item(Runtime& /*runtime*/, const Value& key) override {
    if (!key.is_integral()) {
      return {};
    }
    const std::int64_t index = to_index(key);
    const auto size = static_cast<std::int64_t>(size_);
    const std::int64_t position = index < 0 ? index + size : index;
    return position >= 0 && position < size ? Value::integer(at(static_cast<std::size_t>(position)))
                                            : Value();
  }

  Value slice(Runtime& runtime, const Value& start, const Value& stop, const Value& step) override;

  Value attribute(Runtime& /*runtime*/, std::string_view name) override {
    if (name == "start") {
      return Value::integer(start_);
    }
    if (name == "stop") {
      return Value::integer(stop_);
    }
    return name == "step" ? Value::integer(step_) : Value();
  }

  const Method* method(std::string_view name) const noexcept override;

  std::optional<bool> contains(Runtime& /*runtime*/, const Value& value) override {
    if (!value.is(Value::Kind::Int) && !value.is(Value::Kind::Bool)) {
      return std::nullopt;
    }
    const std::int64_t number = to_index(value);
    const bool inside =
        step_ > 0 ? number >= start_ && number < stop_ : number <= start_ && number > stop_;
    return inside && (number - start_) % step_ == 0;
  }

  bool equals(Budget& /*budget*/, const Object& other) const override {
    const auto* const range = dynamic_cast<const RangeObject*>(&other);
    return range != nullptr && range->size_ == size_ &&
           (size_ == 0 || (range->start_ == start_ && (size_ == 1 || range->step_ == step_)));
  }

 private:
  class Counter final : public ValueIterator {
   public:
    Counter(std::int64_t start, std::int64_t step, std::size_t count)
        : next_(start), step_(step), left_(count) {}

    std::optional<Value> next(Runtime& runtime) override {
      if (left_ == 0) {
        return std::nullopt;
      }
      runtime.budget().step();
      const std::int64_t value = next_;
      next_ += --left_ > 0 ? step_ : 0;
      return Value::integer(value);
    }

   private:
    std::int64_t next_, step_;
    std::size_t left_;
  };

  std::optional<std::int64_t> find(Runtime& runtime, const Value& value);
  static Value count(Runtime& runtime, const Value& self, const CallArgs& call);
  static Value index(Runtime& runtime, const Value& self, const CallArgs& call);

  std::int64_t at(std::size_t index) const noexcept {
    return start_ + static_cast<std::int64_t>(index) * step_;
  }

  std::int64_t start_, stop_, step_;
  std::size_t size_;
};

Value RangeObject::slice(Runtime& /*runtime*/, const Value& start, const Value& stop,
                         const Value& step) {
  const SliceBounds bounds = slice_bounds(size_, start, stop, step);
  std::int64_t stride = 0;
  if (__builtin_mul_overflow(step_, bounds.step, &stride)) {
    const auto length = static_cast<std::int64_t>(size_);
    stride = bounds.step < 0 ? -length : length;  // past the end either way
  }
  return make_range(start_ + bounds.start * step_, start_ + bounds.stop * step_, stride);
}

// Where `value` stands in the range.
std::optional<std::int64_t> RangeObject::find(Runtime& runtime, const Value& value) {
  if (const auto inside = contains(runtime, value)) {
    return *inside ? std::optional((to_index(value) - start_) / step_) : std::nullopt;
  }
  for (std::size_t i = 0; i < size_; ++i) {
    if (smol::jinja::equals(runtime.budget(), Value::integer(at(i)), value)) {
      return static_cast<std::int64_t>(i);
    }
  }
  return std::nullopt;
}

Value RangeObject::count(Runtime& runtime, const Value& self, const CallArgs& call) {
  const Bound args(call, {"range.count", {"value"}, 1, true});
  auto& range = dynamic_cast<RangeObject&>(self.object());
  return Value::integer(range.find(runtime, args[0]) ? 1 : 0);
}

Value RangeObject::index(Runtime& runtime, const Value& self, const CallArgs& call) {
  const Bound args(call, {"range.index", {"value"}, 1, true});
  const auto found = dynamic_cast<RangeObject&>(self.object()).find(runtime, args[0]);
  if (!found) {
    raise_value("the value is not in the range");
  }
  return Value::integer(*found);
}

const Method* RangeObject::method(std::string_view name) const noexcept {
  static constexpr Method kCount{"count", count};
  static constexpr Method kIndex{"index", index};
  if (name == kCount.name) {
    return &kCount;
  }
  return name == kIndex.name ? &kIndex : nullptr;
}

}  // namespace

Value make_range(std::int64_t start, std::int64_t stop, std::int64_t step) {
  constexpr std::uint64_t kMaxRange = 100000;
  const std::uint64_t size = range_size(start, stop, step);
  if (size > kMaxRange) {
    raise(FaultKind::Overflow,
          "Range too big. The sandbox blocks ranges larger than MAX_RANGE (100000).");
  }
  return Value::object(
      std::make_shared<RangeObject>(start, stop, step, static_cast<std::size_t>(size)));
}

}  // namespace smol::jinja
