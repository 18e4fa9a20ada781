#include "jinja/arguments.h"

#include <algorithm>
#include <string>

#include "jinja/fault.h"
#include "jinja/names.h"
#include "jinja/text.h"

namespace smol::jinja {

Bound::Bound(const CallArgs& args, const Signature& signature)
    : values_(signature.parameters.size()) {
  const std::string function = std::string(signature.function) + "()";
  if (args.positional.size() > values_.size()) {
    raise_type(function + " takes " + std::to_string(values_.size()) + " arguments but " +
               std::to_string(args.positional.size()) + " were given");
  }
  std::copy(args.positional.begin(), args.positional.end(), values_.begin());
  for (const auto& [name, value] : args.keyword) {
    const auto* const it =
        std::find(signature.parameters.begin(), signature.parameters.end(), name);
    if (it == signature.parameters.end() || signature.positional_only) {
      raise_type(function + " got an unexpected keyword argument " + quote(name));
    }
    Value& slot = values_[static_cast<std::size_t>(it - signature.parameters.begin())];
    if (!slot.is_missing()) {
      raise_type(function + " got multiple values for argument " + quote(name));
    }
    slot = value;
  }
  for (std::size_t i = 0; i < signature.required; ++i) {
    if (values_[i].is_missing()) {
      raise_type(function + " missing 1 required positional argument: " +
                 quote(signature.parameters.begin()[i]));
    }
  }
}

void bind_nothing(const CallArgs& args, std::string_view function) {
  const Bound bound(args, {function, {}});
}

const MarkedString& require_text(const Value& value, std::string_view what) {
  if (!value.is_string()) {
    raise_type(std::string(what) + " must be str, not " + std::string(type_name(value)));
  }
  return value.text();
}

}  // namespace smol::jinja
