// Conjunctions of schemas to alternatives: $ref, allOf, anyOf, oneOf.
#include <algorithm>
#include <set>

#include "grammar/schema_shape.h"

namespace smol::grammar {
namespace {

constexpr int kMaxChoiceDepth = 64;
constexpr std::size_t kNoLink = 0xFFFF'FFFFU;

}  // namespace

// A schema to take, or a choice of it to make.
struct ShapeMaker::Item {
  const Json* schema;
  std::size_t parent;            // link; of a choice: the schema's own
  const char* choice = nullptr;  // its keyword
};

// An alternative in the making.
struct ShapeMaker::Partial {
  std::vector<Item> todo;            // last first
  std::vector<const Json*> schemas;  // those whose own keywords hold
  std::set<const Json*> seen;
  bool is_choice = false;
};

std::vector<Shape> ShapeMaker::expand(const SchemaSet& schemas) {
  links_.clear();
  Partial partial;
  for (std::size_t i = schemas.size(); i-- > 0;) {
    partial.todo.push_back({schemas[i], kNoLink});
  }
  return expand(std::move(partial), 0);
}

bool ShapeMaker::is_endless(const Item& item) const {
  for (std::size_t link = item.parent; link != kNoLink; link = links_[link].parent) {
    if (links_[link].schema == item.schema) {
      return true;
    }
  }
  return false;
}

// The parts of allOf, anyOf and oneOf, and $ref, in their order.
void ShapeMaker::add_parts(Partial& partial, const Json& schema, std::size_t link) {
  std::vector<Item> parts;
  for (const auto& [keyword, value] : schema.items()) {
    const bool is_choice = keyword == "anyOf" || keyword == "oneOf";
    if (keyword == "$ref") {
      parts.push_back({&document_.resolve(schema), link});
    } else if (is_choice || keyword == "allOf") {
      if (!value.is_array() || value.empty()) {
        document_.fail(ErrorCode::BadInput, schema, keyword, "must be a list of schemas");
      }
      if (is_choice) {
        parts.push_back({&schema, link, keyword == "anyOf" ? "anyOf" : "oneOf"});
        continue;
      }
      for (const Json& part : value) {
        parts.push_back({&part, link});
      }
    }
  }
  partial.todo.insert(partial.todo.end(), parts.rbegin(), parts.rend());
}

// Adds the schema's own keywords and what it refers to. false: nothing fits it.
bool ShapeMaker::take(Partial& partial, const Item& item) {
  const Json& schema = *item.schema;
  if (schema.is_boolean()) {
    return schema.get<bool>();
  }
  if (++n_steps_ > kMaxSteps) {
    throw Error(ErrorCode::Exhausted,
                document_.place_of(schema) + ": the schema's combinations are too many");
  }
  if (!schema.is_object()) {
    throw Error(ErrorCode::BadInput,
                document_.place_of(schema) + ": expected a schema, found " + schema.type_name());
  }
  if (is_endless(item)) {
    document_.fail(ErrorCode::BadInput, schema, "$ref", "leads in a circle");
  }
  if (!partial.seen.insert(&schema).second) {
    return true;
  }
  links_.push_back({&schema, item.parent});
  const std::size_t link = links_.size() - 1;
  if (schema.contains("$ref") && document_.ref_hides_siblings()) {
    partial.todo.push_back({&document_.resolve(schema), link});
    return true;
  }
  check_keywords(schema);
  partial.schemas.push_back(&schema);
  add_parts(partial, schema, link);
  return true;
}

std::vector<Shape> ShapeMaker::expand(Partial partial, int depth) {
  if (depth > kMaxChoiceDepth) {
    throw Error(ErrorCode::Exhausted, "/: the schema's choices are nested too deep");
  }
  while (!partial.todo.empty()) {
    const Item item = partial.todo.back();
    partial.todo.pop_back();
    if (item.choice != nullptr) {
      return expand_choice(partial, item, depth);
    }
    if (!take(partial, item)) {
      return {};
    }
  }
  Shape shape = merge(partial.schemas);
  shape.is_choice = partial.is_choice;
  const bool possible = shape.types != 0 && !(shape.values && shape.values->empty());
  return possible ? std::vector<Shape>{std::move(shape)} : std::vector<Shape>{};
}

std::vector<Shape> ShapeMaker::expand_choice(const Partial& partial, const Item& item, int depth) {
  const bool is_exclusive = std::string_view(item.choice) == "oneOf";
  std::vector<Shape> all;
  for (const Json& branch : item.schema->at(item.choice)) {
    Partial one = partial;
    one.is_choice = true;
    one.todo.push_back({&branch, item.parent});
    std::vector<Shape> shapes = expand(std::move(one), depth + 1);
    for (const Shape& shape : shapes) {
      const auto overlaps = [&](const Shape& earlier) { return !disjoint(earlier, shape, 0); };
      if (is_exclusive && std::any_of(all.begin(), all.end(), overlaps)) {
        document_.fail(ErrorCode::Unsupported, *item.schema, "oneOf",
                       "is supported only where types, or a const or enum of a required property, "
                       "tell its branches apart");
      }
    }
    all.insert(all.end(), shapes.begin(), shapes.end());
    if (all.size() > kMaxAlternatives) {
      document_.fail(ErrorCode::Exhausted, *item.schema, item.choice, "has too many combinations");
    }
  }
  return all;
}

// No value that `listed` lists for the type fits `other`.
bool ShapeMaker::values_disjoint(const Shape& listed, const Shape& other, std::uint8_t type) {
  return std::none_of(listed.values->begin(), listed.values->end(), [&](const Json* value) {
    const bool is_compound = value->is_structured();
    const auto equals = [&](const Json* one) { return *one == *value; };
    if (type_of(*value) != type) {
      return false;
    }
    if (other.values) {
      return std::any_of(other.values->begin(), other.values->end(), equals);
    }
    return is_compound || allows(other, *value);
  });
}

bool ShapeMaker::disjoint(const Shape& a, const Shape& b, int depth) {
  for (const std::uint8_t type : {kNull, kBoolean, kNumber, kString, kArray, kObject}) {
    if ((a.types & b.types & type) == 0) {
      continue;
    }
    const bool apart = (a.values && values_disjoint(a, b, type)) ||
                       (b.values && values_disjoint(b, a, type)) ||
                       (type == kObject && objects_disjoint(a, b, depth));
    if (!apart) {
      return false;
    }
  }
  return true;
}

// A property that both require and whose values differ.
bool ShapeMaker::objects_disjoint(const Shape& a, const Shape& b, int depth) {
  constexpr int kMaxDepth = 4;
  if (depth >= kMaxDepth) {
    return false;
  }
  for (const std::string& name : a.required) {
    if (std::find(b.required.begin(), b.required.end(), name) == b.required.end()) {
      continue;
    }
    // Their links are their own.
    std::vector<Link> kept;
    kept.swap(links_);
    const std::vector<Shape> in_a = expand(property_schemas(a, name));
    const std::vector<Shape> in_b = expand(property_schemas(b, name));
    links_.swap(kept);
    const bool apart = std::all_of(in_a.begin(), in_a.end(), [&](const Shape& one) {
      return std::all_of(in_b.begin(), in_b.end(),
                         [&](const Shape& other) { return disjoint(one, other, depth + 1); });
    });
    if (apart) {
      return true;
    }
  }
  return false;
}

}  // namespace smol::grammar
