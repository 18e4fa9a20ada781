// The keywords of one schema, added to a shape.
#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "grammar/formats.h"
#include "grammar/schema_shape.h"

namespace smol::grammar {
namespace {

struct NamedType {
  std::string_view name;
  std::uint8_t type;
};

constexpr std::array kTypes{NamedType{"null", kNull},      NamedType{"boolean", kBoolean},
                            NamedType{"integer", kNumber}, NamedType{"number", kNumber},
                            NamedType{"string", kString},  NamedType{"array", kArray},
                            NamedType{"object", kObject}};

// Keywords that say something of a value and are not enforced.
constexpr std::array<std::string_view, 14> kRefused{"not",
                                                    "dependencies",
                                                    "dependentRequired",
                                                    "dependentSchemas",
                                                    "contains",
                                                    "minContains",
                                                    "maxContains",
                                                    "propertyNames",
                                                    "unevaluatedItems",
                                                    "$dynamicRef",
                                                    "unevaluatedProperties",
                                                    "$recursiveRef",
                                                    "extends",
                                                    "disallow"};

constexpr std::array<std::string_view, 4> kItemKeywords{"items", "prefixItems", "additionalItems",
                                                        "uniqueItems"};
constexpr std::array<std::string_view, 3> kPropertyKeywords{"properties", "patternProperties",
                                                            "additionalProperties"};

// No answer has so many items or properties.
constexpr std::uint64_t kUncountable = 1U << 20U;

bool has_any(const Json& schema, std::span<const std::string_view> keywords) {
  return std::any_of(keywords.begin(), keywords.end(),
                     [&](std::string_view keyword) { return schema.contains(keyword); });
}

}  // namespace

void ShapeMaker::check_keywords(const Json& schema) const {
  for (const std::string_view keyword : kRefused) {
    if (schema.contains(keyword)) {
      document_.fail(ErrorCode::Unsupported, schema, keyword, "is not supported");
    }
  }
  if (schema.contains("if") && (schema.contains("then") || schema.contains("else"))) {
    document_.fail(ErrorCode::Unsupported, schema, "if", "is not supported");
  }
}

Shape ShapeMaker::merge(const std::vector<const Json*>& schemas) {
  Shape shape;
  for (const Json* schema : schemas) {
    shape.holder = shape.holder == nullptr ? schema : shape.holder;
    add_types(shape, *schema);
    add_values(shape, *schema);
    add_numbers(shape, *schema);
    add_texts(shape, *schema);
    add_arrays(shape, *schema);
    add_objects(shape, *schema);
  }
  for (const Json* schema : schemas) {
    add_format(shape, *schema);
  }
  return shape;
}

void ShapeMaker::add_types(Shape& shape, const Json& schema) const {
  const auto found = schema.find("type");
  if (found == schema.end()) {
    return;
  }
  std::uint8_t types = 0;
  bool any_number = false, integer = false;
  const auto add = [&](const Json& name) {
    const auto known = std::find_if(kTypes.begin(), kTypes.end(), [&](const NamedType& one) {
      return name.is_string() && one.name == name.get_ref<const std::string&>();
    });
    if (known == kTypes.end()) {
      document_.fail(ErrorCode::BadInput, schema, "type",
                     "must be null, boolean, integer, number, string, array, object or a list of "
                     "them, found " +
                         name.dump(-1, ' ', false, Json::error_handler_t::replace));
    }
    types |= known->type;
    integer = integer || known->name == "integer";
    any_number = any_number || known->name == "number";
  };
  if (found->is_array()) {
    std::for_each(found->begin(), found->end(), add);
  } else {
    add(*found);
  }
  shape.types &= types;
  shape.numbers.integer = shape.numbers.integer || (integer && !any_number);
}

void ShapeMaker::add_values(Shape& shape, const Json& schema) const {
  for (const char* keyword : {"enum", "const"}) {
    const auto found = schema.find(keyword);
    if (found == schema.end()) {
      continue;
    }
    std::vector<const Json*> listed;
    if (std::string_view(keyword) == "const") {
      listed.push_back(&*found);
    } else if (found->is_array()) {
      for (const Json& value : *found) {
        listed.push_back(&value);
      }
    } else {
      document_.fail(ErrorCode::BadInput, schema, keyword, "must be a list");
    }
    if (!shape.values) {
      shape.values = std::move(listed);
      shape.values_holder = &schema;
      continue;
    }
    std::erase_if(*shape.values, [&](const Json* value) {
      return std::none_of(listed.begin(), listed.end(),
                          [&](const Json* other) { return *value == *other; });
    });
  }
}

std::optional<Decimal> ShapeMaker::number_at(const Json& schema, const char* keyword) const {
  const auto found = schema.find(keyword);
  if (found == schema.end()) {
    return std::nullopt;
  }
  const bool finite = found->is_number() && std::isfinite(found->get<double>());
  auto value = finite ? parse_decimal(found->dump()) : std::nullopt;
  if (!value) {
    document_.fail(ErrorCode::BadInput, schema, keyword, "must be a number");
  }
  return value;
}

// Draft 4: a boolean beside the bound; later: a bound of its own.
void ShapeMaker::add_bound(Shape& shape, const Json& schema, bool is_min) const {
  const char* inclusive = is_min ? "minimum" : "maximum";
  const char* exclusive = is_min ? "exclusiveMinimum" : "exclusiveMaximum";
  const auto flag = schema.find(exclusive);
  const bool is_flag = flag != schema.end() && flag->is_boolean();
  const auto add = [&](const std::optional<Decimal>& value, bool without) {
    if (value && is_min) {
      shape.numbers.add_min({*value, without});
    } else if (value) {
      shape.numbers.add_max({*value, without});
    }
  };
  add(number_at(schema, inclusive), is_flag && flag->get<bool>());
  if (!is_flag) {
    add(number_at(schema, exclusive), true);
  }
}

void ShapeMaker::add_numbers(Shape& shape, const Json& schema) const {
  add_bound(shape, schema, true);
  add_bound(shape, schema, false);
  if (const auto multiple = number_at(schema, "multipleOf")) {
    if (multiple->negative || multiple->is_zero()) {
      document_.fail(ErrorCode::BadInput, schema, "multipleOf", "must be above 0");
    }
    shape.numbers.multiples_of.push_back(*multiple);
  }
}

std::optional<std::uint64_t> ShapeMaker::count_at(const Json& schema, const char* keyword) const {
  const auto value = number_at(schema, keyword);
  if (!value) {
    return std::nullopt;
  }
  if (value->negative || !value->is_integer()) {
    document_.fail(ErrorCode::BadInput, schema, keyword, "must be a whole number, at least 0");
  }
  return value->integer.size() > 18 ? Shape::kNoMax - 1 : std::stoull(value->integer);
}

void ShapeMaker::add_texts(Shape& shape, const Json& schema) const {
  // Beyond this no answer is: such a maximum is none, such a minimum cannot be met.
  constexpr std::uint64_t kLongest = 100'000'000;
  if (const auto min = count_at(schema, "minLength")) {
    if (*min > kLongest) {
      document_.fail(ErrorCode::Unsupported, schema, "minLength", "is too large");
    }
    shape.min_length = std::max(shape.min_length, static_cast<std::uint32_t>(*min));
  }
  if (const auto max = count_at(schema, "maxLength"); max && *max <= kLongest) {
    shape.max_length = std::min(shape.max_length, static_cast<std::uint32_t>(*max));
  }
  if (const auto pattern = schema.find("pattern"); pattern != schema.end()) {
    if (!pattern->is_string()) {
      document_.fail(ErrorCode::BadInput, schema, "pattern", "must be a string");
    }
    shape.texts.push_back(&schema);
  }
}

// Formats of strings say nothing of other values. Those of numbers are OpenAPI's.
void ShapeMaker::add_format(Shape& shape, const Json& schema) const {
  const auto format = schema.find("format");
  if (format == schema.end()) {
    return;
  }
  if (!format->is_string()) {
    document_.fail(ErrorCode::BadInput, schema, "format", "must be a string");
  }
  const auto& name = format->get_ref<const std::string&>();
  if (format_pattern(name)) {
    if ((shape.types & kString) != 0 && !schema.contains("pattern")) {
      shape.texts.push_back(&schema);
    }
    return;
  }
  const auto bound = [](const char* digits, bool negative) {
    Decimal value;
    value.integer = digits;
    value.negative = negative;
    return NumberBound{value, false};
  };
  if ((shape.types & kString) == 0 && (name == "float" || name == "double")) {
    return;
  }
  if ((shape.types & kString) == 0 && (name == "int32" || name == "int64")) {
    shape.numbers.integer = true;
    shape.numbers.add_min(bound(name == "int32" ? "2147483648" : "9223372036854775808", true));
    shape.numbers.add_max(bound(name == "int32" ? "2147483647" : "9223372036854775807", false));
    return;
  }
  document_.fail(ErrorCode::Unsupported, schema, "format", "\"" + name + "\" is not supported");
}

void ShapeMaker::add_arrays(Shape& shape, const Json& schema) const {
  if (const auto min = count_at(schema, "minItems")) {
    shape.min_items = std::max(shape.min_items, *min);
  }
  if (const auto max = count_at(schema, "maxItems"); max && *max <= kUncountable) {
    shape.max_items = std::min(shape.max_items, *max);
  }
  if (const auto unique = schema.find("uniqueItems");
      unique != schema.end() && !unique->is_boolean()) {
    document_.fail(ErrorCode::BadInput, schema, "uniqueItems", "must be true or false");
  }
  if (has_any(schema, kItemKeywords)) {
    shape.arrays.push_back(&schema);
  }
}

void ShapeMaker::add_objects(Shape& shape, const Json& schema) const {
  if (const auto min = count_at(schema, "minProperties")) {
    shape.min_properties = std::max(shape.min_properties, *min);
  }
  if (const auto max = count_at(schema, "maxProperties"); max && *max <= kUncountable) {
    shape.max_properties = std::min(shape.max_properties, *max);
  }
  if (const auto required = schema.find("required"); required != schema.end()) {
    const auto is_text = [](const Json& name) { return name.is_string(); };
    if (!required->is_array() || !std::all_of(required->begin(), required->end(), is_text)) {
      document_.fail(ErrorCode::BadInput, schema, "required", "must be a list of names");
    }
    for (const Json& name : *required) {
      const auto& text = name.get_ref<const std::string&>();
      if (std::find(shape.required.begin(), shape.required.end(), text) == shape.required.end()) {
        shape.required.push_back(text);
      }
    }
  }
  for (const char* keyword : {"properties", "patternProperties"}) {
    if (const auto found = schema.find(keyword); found != schema.end() && !found->is_object()) {
      document_.fail(ErrorCode::BadInput, schema, keyword, "must be an object");
    }
  }
  if (has_any(schema, kPropertyKeywords)) {
    shape.objects.push_back(&schema);
  }
}

}  // namespace smol::grammar
