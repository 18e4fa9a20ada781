#include "jinja/runtime.h"

namespace smol::jinja {

Runtime::~Runtime() {
  for (const auto& object : kept_) {
    object->clear();
  }
}

Value Runtime::text(MarkedString text, bool markup) {
  constexpr std::size_t kOverhead = 64;
  budget_.charge(text.size() + kOverhead);
  return Value::string(std::move(text), markup);
}

Value Runtime::list(List items) {
  budget_.charge(items.size() + 2, sizeof(Value));
  return Value::list(std::move(items));
}

Value Runtime::tuple(List items) {
  budget_.charge(items.size() + 2, sizeof(Value));
  return Value::tuple(std::move(items));
}

Value Runtime::dict(Dict entries) {
  budget_.charge(entries.size() + 2, 2 * sizeof(Value) + sizeof(std::size_t));
  return Value::dict(std::move(entries));
}

void Runtime::keep(std::shared_ptr<Object> object) {
  constexpr std::size_t kOverhead = 512;
  budget_.charge(kOverhead);
  kept_.push_back(std::move(object));
}

std::size_t Runtime::random(std::size_t bound) noexcept {
  // xorshift64, Marsaglia 2003: no secret depends on it.
  random_state_ ^= random_state_ << 13U;
  random_state_ ^= random_state_ >> 7U;
  random_state_ ^= random_state_ << 17U;
  return static_cast<std::size_t>(random_state_ % bound);
}

Runtime::Level::Level(Runtime& runtime) : runtime_(runtime) {
  if (runtime.depth_ >= runtime.options_.limits.max_depth) {
    raise(FaultKind::Limit, "the template nests too deeply: maximum recursion depth exceeded");
  }
  ++runtime.depth_;
}

}  // namespace smol::jinja
