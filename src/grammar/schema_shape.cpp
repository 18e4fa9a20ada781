#include "grammar/schema_shape.h"

#include <algorithm>

#include "base/utf8.h"
#include "grammar/ecma_pattern.h"
#include "grammar/formats.h"

namespace smol::grammar {
std::uint8_t type_of(const Json& value) {
  if (value.is_null()) {
    return kNull;
  }
  if (value.is_boolean()) {
    return kBoolean;
  }
  if (value.is_number()) {
    return kNumber;
  }
  if (value.is_string()) {
    return kString;
  }
  return value.is_array() ? kArray : kObject;
}

std::size_t ShapeMaker::n_prefix_items(const Shape& shape) {
  std::size_t n = 0;
  for (const Json* schema : shape.arrays) {
    for (const char* keyword : {"items", "prefixItems"}) {
      if (const auto found = schema->find(keyword); found != schema->end() && found->is_array()) {
        n = std::max(n, found->size());
      }
    }
  }
  return n;
}

SchemaSet ShapeMaker::item_schemas(const Shape& shape, std::size_t index) const {
  SchemaSet set;
  for (const Json* schema : shape.arrays) {
    const auto at = [&](const char* keyword) {
      const auto found = schema->find(keyword);
      return found == schema->end() ? nullptr : &*found;
    };
    const Json* items = at("items");
    const Json* prefix = at("prefixItems");
    const Json* rest = items;
    if (items != nullptr && items->is_array()) {
      prefix = items;
      rest = at("additionalItems");
    }
    const Json* one = prefix != nullptr && index < prefix->size() ? &(*prefix)[index] : rest;
    if (one != nullptr) {
      set.push_back(one);
    }
  }
  return set;
}

SchemaSet ShapeMaker::property_schemas(const Shape& shape, const std::string& name) {
  SchemaSet set;
  for (const Json* schema : shape.objects) {
    add_property_schemas(set, *schema, name);
  }
  return set;
}

void ShapeMaker::add_property_schemas(SchemaSet& set, const Json& schema, const std::string& name) {
  const std::size_t n_before = set.size();
  if (const auto named = schema.find("properties"); named != schema.end()) {
    if (const auto found = named->find(name); found != named->end()) {
      set.push_back(&*found);
    }
  }
  if (const auto patterns = schema.find("patternProperties"); patterns != schema.end()) {
    for (const auto& [pattern, value] : patterns->items()) {
      if (pattern_automaton(schema, pattern, "patternProperties").matches(name)) {
        set.push_back(&value);
      }
    }
  }
  if (const auto others = schema.find("additionalProperties");
      set.size() == n_before && others != schema.end()) {
    set.push_back(&*others);
  }
}

Regex ShapeMaker::text_regex(RegexPool& pool, const Json& holder, const std::string& pattern,
                             const char* keyword) const {
  try {
    return parse_pattern(pool, pattern);
  } catch (const Error& error) {
    document_.fail(error.code(), holder, keyword, error.what());
  }
}

const CharDfa& ShapeMaker::pattern_automaton(const Json& holder, const std::string& pattern,
                                             const char* keyword) {
  const auto [found, is_new] = patterns_.try_emplace(pattern);
  if (is_new) {
    RegexPool pool(budget_);
    try {
      found->second = pool.automaton(text_regex(pool, holder, pattern, keyword));
    } catch (const Error& error) {
      patterns_.erase(found);
      if (error.code() != ErrorCode::Exhausted) {
        throw;
      }
      document_.fail(error.code(), holder, keyword, error.what());
    }
  }
  return found->second;
}

CharDfa ShapeMaker::text_automaton(const Shape& shape) {
  RegexPool pool(budget_);
  std::vector<Regex> all;
  const char* keyword = "pattern";
  for (const Json* schema : shape.texts) {
    if (const auto pattern = schema->find("pattern"); pattern != schema->end()) {
      all.push_back(text_regex(pool, *schema, pattern->get<std::string>(), "pattern"));
    }
    const auto format = schema->find("format");
    const auto form =
        format != schema->end() ? format_pattern(format->get<std::string>()) : std::nullopt;
    if (form) {
      keyword = schema->contains("pattern") ? "pattern" : "format";
      all.push_back(text_regex(pool, *schema, *form, "format"));
    }
  }
  const Regex any = pool.one_of(any_character());
  try {
    if (shape.min_length > 0 || shape.max_length != RegexPool::kUnbounded) {
      if (shape.max_length < shape.min_length) {
        return {};
      }
      all.push_back(pool.repeat(any, shape.min_length, shape.max_length));
    }
    return pool.automaton(pool.both(all));
  } catch (const Error& error) {
    document_.fail(error.code(), *shape.texts.at(0), keyword, error.what());
  }
}

bool ShapeMaker::allows(const Shape& shape, const Json& value) {
  const std::uint8_t type = type_of(value);
  if ((shape.types & type) == 0) {
    return false;
  }
  if (type == kNumber) {
    const auto number = parse_decimal(value.dump());
    return number && shape.numbers.allows(*number, budget_);
  }
  if (type == kString) {
    const auto& text = value.get_ref<const std::string&>();
    const std::size_t length = utf8::length(text);
    return length >= shape.min_length && length <= shape.max_length &&
           (shape.texts.empty() || text_automaton(shape).matches(text));
  }
  const bool has_rules =
      type == kArray
          ? !shape.arrays.empty() || shape.min_items > 0 || shape.max_items != Shape::kNoMax
          : type == kObject && (!shape.objects.empty() || !shape.required.empty() ||
                                shape.min_properties > 0 || shape.max_properties != Shape::kNoMax);
  if (has_rules) {
    document_.fail(
        ErrorCode::Unsupported,
        shape.values_holder != nullptr ? *shape.values_holder : *shape.holder,
        shape.values_holder != nullptr && !shape.values_holder->contains("enum") ? "const" : "enum",
        "of lists and objects beside other keywords for them is not supported");
  }
  return true;
}

}  // namespace smol::grammar
