#include <algorithm>
#include <functional>

#include "jinja/compare.h"
#include "jinja/value.h"

namespace smol::jinja {
namespace {

constexpr std::size_t kIndexedFrom = 9;  // fewer entries are searched in order

std::size_t spread(std::size_t hash) noexcept {
  return hash * 0x9E3779B97F4A7C15ULL;
}

}  // namespace

Dict::Dict(std::initializer_list<std::pair<std::string_view, Value>> entries) {
  for (const auto& [key, value] : entries) {
    set(key, value);
  }
}

template <class Equal>
std::size_t Dict::locate(std::size_t hash, const Equal& equal) const {
  if (index_.empty()) {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (hashes_[i] == hash && equal(entries_[i].first)) {
        return i;
      }
    }
    return kNone;
  }
  const std::size_t mask = index_.size() - 1;
  for (std::size_t slot = spread(hash) >> 7U & mask; index_[slot] != 0; slot = (slot + 1) & mask) {
    const std::size_t i = index_[slot] - 1;
    if (hashes_[i] == hash && equal(entries_[i].first)) {
      return i;
    }
  }
  return kNone;
}

const Value* Dict::find(std::string_view key) const {
  const std::size_t at = locate(hash_bytes(key), [key](const Value& other) {
    return other.is_string() && other.bytes() == key;
  });
  return at == kNone ? nullptr : &entries_[at].second;
}

const Value* Dict::find(const Value& key, Budget& budget) const {
  if (key.is_string()) {
    return find(key.bytes());
  }
  const std::size_t at = locate(hash_value(budget, key), [&](const Value& other) {
    return key.same_as(other) || equals(budget, other, key);
  });
  return at == kNone ? nullptr : &entries_[at].second;
}

void Dict::set(std::string_view key, Value value, Origin key_origin) {
  const std::size_t hash = hash_bytes(key);
  const std::size_t at =
      locate(hash, [key](const Value& other) { return other.is_string() && other.bytes() == key; });
  if (at == kNone) {
    insert(Value::string(std::string(key), key_origin), hash, std::move(value));
    return;
  }
  depth_ = std::max(depth_, value.depth() + 1);
  entries_[at].second = std::move(value);
}

void Dict::set(Value key, Value value, Budget& budget) {
  const std::size_t hash = hash_value(budget, key);
  const std::size_t at = locate(
      hash, [&](const Value& other) { return key.same_as(other) || equals(budget, other, key); });
  if (at == kNone) {
    insert(std::move(key), hash, std::move(value));
    return;
  }
  depth_ = std::max(depth_, value.depth() + 1);
  entries_[at].second = std::move(value);
}

void Dict::insert(Value key, std::size_t hash, Value value) {
  depth_ = std::max({depth_, key.depth() + 1, value.depth() + 1});
  entries_.emplace_back(std::move(key), std::move(value));
  hashes_.push_back(hash);
  if (entries_.size() >= kIndexedFrom && entries_.size() * 2 > index_.size()) {
    grow_index();
  } else if (!index_.empty()) {
    index_entry(entries_.size() - 1);
  }
}

void Dict::grow_index() {
  index_.assign(std::max<std::size_t>(32, index_.size() * 4), 0);
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    index_entry(i);
  }
}

void Dict::index_entry(std::size_t entry) {
  const std::size_t mask = index_.size() - 1;
  std::size_t slot = spread(hashes_[entry]) >> 7U & mask;
  while (index_[slot] != 0) {
    slot = (slot + 1) & mask;
  }
  index_[slot] = static_cast<std::uint32_t>(entry + 1);
}

}  // namespace smol::jinja
