#include "grammar/open_keys.h"

#include <algorithm>
#include <utility>

namespace smol::grammar {

OpenKeys::Place OpenKeys::behind(Place place, std::string_view bytes) {
  for (const char byte : bytes) {
    step(place, byte);
  }
  return place;
}

bool OpenKeys::repeats(const Place& place, std::string_view bytes) {
  const std::size_t n_levels = levels_.size();
  const std::size_t n_keys = keys_.size();
  Place here = place;
  const bool any = std::ranges::any_of(bytes, [&](char byte) { return step(here, byte); });
  levels_.resize(n_levels);
  keys_.resize(n_keys);
  return any;
}

std::vector<std::string> OpenKeys::repeating_ends(const Place& place) const {
  std::vector<std::string> ends;
  if (place.in != Place::In::Key) {
    return ends;
  }
  for (std::uint32_t i = levels_[place.level].keys; i != kNone; i = keys_[i].before) {
    const std::string& name = keys_[i].name;
    if (name.starts_with(place.key)) {
      ends.push_back(name.substr(place.key.size()) + '"');
    }
  }
  return ends;
}

bool OpenKeys::step(Place& place, char byte) {
  if (place.in != Place::In::Between) {
    return step_in_string(place, byte);
  }
  switch (byte) {
    case '"':
      place.in = place.before_key ? Place::In::Key : Place::In::String;
      break;
    case '{':
    case '[':
      open(place, byte == '{');
      break;
    case '}':
    case ']':
      place.level = levels_[place.level].below;
      place.before_key = false;
      break;
    case ',':
      place.before_key = levels_[place.level].is_object;
      break;
    default:
      break;
  }
  return false;
}

bool OpenKeys::step_in_string(Place& place, char byte) {
  if (byte == '"' && !place.escaped) {
    return end_key(place);
  }
  place.escaped = byte == '\\' && !place.escaped;
  if (place.in == Place::In::Key) {
    place.key += byte;
  }
  return false;
}

bool OpenKeys::end_key(Place& place) {
  const bool is_key = place.in == Place::In::Key;
  place.in = Place::In::Between;
  if (!is_key) {
    return false;
  }
  place.before_key = false;
  Level level = levels_[place.level];
  const bool repeats = has(level.keys, place.key);
  keys_.push_back({std::exchange(place.key, {}), level.keys});
  level.keys = static_cast<std::uint32_t>(keys_.size() - 1);
  levels_.push_back(level);
  place.level = static_cast<std::uint32_t>(levels_.size() - 1);
  return repeats;
}

void OpenKeys::open(Place& place, bool is_object) {
  levels_.push_back({is_object, place.level, kNone});
  place.level = static_cast<std::uint32_t>(levels_.size() - 1);
  place.before_key = is_object;
}

bool OpenKeys::has(std::uint32_t keys, std::string_view name) const {
  for (; keys != kNone; keys = keys_[keys].before) {
    if (keys_[keys].name == name) {
      return true;
    }
  }
  return false;
}

}  // namespace smol::grammar
