#include "jinja/object.h"

#include "jinja/fault.h"

namespace smol::jinja {

MarkedString Object::repr(Runtime& /*runtime*/) {
  return {"<" + std::string(type_name()) + " object>", Origin::Template};
}

Value Object::attribute(Runtime& /*runtime*/, std::string_view /*name*/) {
  return {};
}

Value Object::item(Runtime& /*runtime*/, const Value& /*key*/) {
  return {};
}

Value Object::slice(Runtime& /*runtime*/, const Value& /*start*/, const Value& /*stop*/,
                    const Value& /*step*/) {
  return {};
}

Value Object::call(Runtime& /*runtime*/, const CallArgs& /*args*/) {
  raise_type("'" + std::string(type_name()) + "' object is not callable");
}

std::optional<std::size_t> Object::length(Runtime& /*runtime*/) {
  return std::nullopt;
}

std::shared_ptr<ValueIterator> Object::iterate(Runtime& /*runtime*/) {
  return nullptr;
}

std::shared_ptr<ValueIterator> Object::iterate_reversed(Runtime& /*runtime*/) {
  return nullptr;
}

bool Object::equals(Budget& /*budget*/, const Object& other) const {
  return this == &other;
}

std::optional<bool> Object::contains(Runtime& /*runtime*/, const Value& /*value*/) {
  return std::nullopt;
}

}  // namespace smol::jinja
