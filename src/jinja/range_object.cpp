// range(start, stop, step)
#include <algorithm>
#include <string>

#include "jinja/arithmetic.h"
#include "jinja/compare.h"
#include "jinja/fault.h"
#include "jinja/objects.h"
#include "jinja/operators.h"

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

  std::int64_t at(std::size_t index) const noexcept {
    return start_ + static_cast<std::int64_t>(index) * step_;
  }

  std::int64_t start_, stop_, step_;
  std::size_t size_;
};

Value RangeObject::slice(Runtime& /*runtime*/, const Value& start, const Value& stop,
                         const Value& step) {
  const auto given = [](const Value& value) { return !value.is_missing() && !value.is_none(); };
  const std::int64_t by = given(step) ? to_index(step) : 1;
  if (by == 0) {
    raise_value("slice step cannot be zero");
  }
  const auto length = static_cast<std::int64_t>(size_);
  const std::int64_t lowest = by < 0 ? -1 : 0;
  const std::int64_t highest = by < 0 ? length - 1 : length;
  const auto bound = [&](const Value& value, std::int64_t otherwise) {
    const std::int64_t index = given(value) ? to_index(value) : otherwise;
    const bool from_end = given(value) && index < 0;
    return std::clamp(from_end ? index + length : index, lowest, highest);
  };
  const std::int64_t first = bound(start, by < 0 ? highest : lowest);
  const std::int64_t last = bound(stop, by < 0 ? lowest : highest);
  std::int64_t stride = 0;
  if (__builtin_mul_overflow(step_, by, &stride)) {
    stride = by < 0 ? -length : length;  // past the end either way
  }
  return make_range(start_ + first * step_, start_ + last * step_, stride);
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
