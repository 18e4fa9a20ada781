#include "grammar/schema_document.h"

#include <optional>
#include <vector>

namespace smol::grammar {
namespace {

std::string escaped_step(std::string_view key) {
  std::string step;
  for (const char c : key) {
    step += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  }
  return step;
}

// The steps from `value` up to but without `goal`'s ancestors' root: nullopt where it is not below.
bool find_path(const Json& value, const Json& goal, std::vector<const Json*>& chain,
               std::string& path) {
  chain.push_back(&value);
  if (&value == &goal) {
    return true;
  }
  const std::size_t length = path.size();
  if (value.is_object()) {
    for (const auto& [key, inner] : value.items()) {
      path += "/" + escaped_step(key);
      if (find_path(inner, goal, chain, path)) {
        return true;
      }
      path.resize(length);
    }
  } else if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      path += "/" + std::to_string(i);
      if (find_path(value[i], goal, chain, path)) {
        return true;
      }
      path.resize(length);
    }
  }
  chain.pop_back();
  return false;
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  const int lower = c | 0x20;
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// %xx of a URI, then ~1 and ~0 of a JSON pointer.
std::string decoded_step(std::string_view step) {
  std::string bytes;
  for (std::size_t i = 0; i < step.size(); ++i) {
    if (step[i] == '%' && i + 2 < step.size() && hex_value(step[i + 1]) >= 0 &&
        hex_value(step[i + 2]) >= 0) {
      bytes += static_cast<char>(hex_value(step[i + 1]) * 16 + hex_value(step[i + 2]));
      i += 2;
    } else {
      bytes += step[i];
    }
  }
  std::string key;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] == '~' && i + 1 < bytes.size() && (bytes[i + 1] == '0' || bytes[i + 1] == '1')) {
      key += bytes[++i] == '0' ? '~' : '/';
    } else {
      key += bytes[i];
    }
  }
  return key;
}

const Json* child(const Json& value, const std::string& key) {
  if (value.is_object()) {
    const auto found = value.find(key);
    return found == value.end() ? nullptr : &*found;
  }
  if (!value.is_array() || key.empty() || key.size() > 9 ||
      key.find_first_not_of("0123456789") != std::string::npos) {
    return nullptr;
  }
  const std::size_t index = std::stoul(key);
  return index < value.size() ? &value[index] : nullptr;
}

const std::string* string_at(const Json& value, const char* key) {
  const auto found = value.find(key);
  return found != value.end() && found->is_string() ? &found->get_ref<const std::string&>()
                                                    : nullptr;
}

std::string without_empty_fragment(std::string uri) {
  if (uri.ends_with('#')) {
    uri.pop_back();
  }
  return uri;
}

}  // namespace

SchemaDocument::SchemaDocument(const Json& root) : root_(root) {
  collect_ids(root, 0);
  if (root.is_object()) {
    if (const std::string* draft = string_at(root, "$schema")) {
      for (const std::string_view old : {"draft-03", "draft-04", "draft-06", "draft-07"}) {
        ref_hides_siblings_ = ref_hides_siblings_ || draft->find(old) != std::string::npos;
      }
    }
  }
}

void SchemaDocument::collect_ids(const Json& value, int depth) {
  if (depth > kMaxDepth || ++n_values_ > kMaxValues) {
    throw Error(ErrorCode::Exhausted, "the schema is too large or nested too deep");
  }
  if (value.is_object()) {
    for (const char* key : {"$id", "id"}) {
      if (const std::string* id = string_at(value, key)) {
        ids_.try_emplace(without_empty_fragment(*id), &value);
      }
    }
    for (const char* key : {"$anchor", "$dynamicAnchor"}) {
      if (const std::string* anchor = string_at(value, key)) {
        ids_.try_emplace("#" + *anchor, &value);
      }
    }
  }
  if (value.is_structured()) {
    for (const Json& inner : value) {
      collect_ids(inner, depth + 1);
    }
  }
}

std::string SchemaDocument::path_of(const Json& value) const {
  std::vector<const Json*> chain;
  std::string path;
  find_path(root_, value, chain, path);
  return path;
}

std::string SchemaDocument::place_of(const Json& value) const {
  const std::string path = path_of(value);
  return path.empty() ? "/" : path;
}

const Json* SchemaDocument::follow_pointer(std::string_view pointer) const {
  const Json* value = &root_;
  while (!pointer.empty() && value != nullptr) {
    if (pointer[0] != '/') {
      return nullptr;
    }
    const std::size_t end = std::min(pointer.find('/', 1), pointer.size());
    value = child(*value, decoded_step(pointer.substr(1, end - 1)));
    pointer.remove_prefix(end);
  }
  return value;
}

// A reference below an embedded resource would be relative to that resource.
void SchemaDocument::check_base(const Json& holder) const {
  std::vector<const Json*> chain;
  std::string path;
  find_path(root_, holder, chain, path);
  for (std::size_t i = 1; i < chain.size(); ++i) {
    if (!chain[i]->is_object()) {
      continue;
    }
    if (const std::string* id = string_at(*chain[i], "$id"); id && !id->starts_with('#')) {
      fail(ErrorCode::Unsupported, holder, "$ref", "below an embedded \"$id\" is not supported");
    }
  }
}

const Json& SchemaDocument::resolve(const Json& holder) {
  const auto [known, is_new] = resolved_.try_emplace(&holder, nullptr);
  if (!is_new) {
    return *known->second;
  }
  const Json& ref = holder.at("$ref");
  if (!ref.is_string()) {
    resolved_.erase(known);
    fail(ErrorCode::BadInput, holder, "$ref", "must be a string");
  }
  const auto& text = ref.get_ref<const std::string&>();
  const std::size_t hash = std::min(text.find('#'), text.size());
  const std::string base = text.substr(0, hash);
  const std::string_view fragment =
      hash < text.size() ? std::string_view(text).substr(hash + 1) : std::string_view();
  const Json* target = nullptr;
  const std::string* root_id = nullptr;
  if (root_.is_object()) {
    root_id = string_at(root_, "$id") != nullptr ? string_at(root_, "$id") : string_at(root_, "id");
  }
  const bool in_root =
      base.empty() || (root_id != nullptr && without_empty_fragment(*root_id) == base);
  if (base.empty()) {
    check_base(holder);
  }
  if (in_root && (fragment.empty() || fragment[0] == '/')) {
    target = follow_pointer(fragment);
  } else if (const auto id =
                 ids_.find(in_root ? "#" + std::string(fragment) : without_empty_fragment(text));
             id != ids_.end()) {
    target = id->second;
  } else if (!in_root) {
    resolved_.erase(known);
    fail(ErrorCode::Unsupported, holder, "$ref", "to another document is not supported: " + text);
  }
  if (target == nullptr) {
    resolved_.erase(known);
    fail(ErrorCode::BadInput, holder, "$ref", "leads nowhere: " + text);
  }
  resolved_[&holder] = target;
  return *target;
}

void SchemaDocument::fail(ErrorCode code, const Json& holder, std::string_view keyword,
                          std::string_view what) const {
  throw Error(code, path_of(holder) + "/" + escaped_step(keyword) + ": \"" + std::string(keyword) +
                        "\" " + std::string(what));
}

}  // namespace smol::grammar
