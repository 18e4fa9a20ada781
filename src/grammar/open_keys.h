// The keys of the objects that a JSON text has open, so that none comes twice in one of them: many
// readers refuse such a text, all others lose a value (RFC 8259, section 4).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace smol::grammar {

// One thread. What was read is kept until this object goes, so that every Place stays valid.
class OpenKeys {
 public:
  // Where a text stands. A small value: going back is keeping the one from before.
  struct Place {
    enum class In : std::uint8_t { Between, String, Key };
    std::uint32_t level = 0;  // the innermost open object or array; 0: none
    In in = In::Between;
    bool escaped = false;     // the next byte of a string stands behind a backslash
    bool before_key = false;  // a string that begins here is a key
    std::string key = {};     // the bytes of the open key so far
  };

  // The place behind `bytes`, which go on in a JSON text that writes equal keys alike.
  Place behind(Place place, std::string_view bytes);
  // Whether `bytes` end a key that its object has already.
  bool repeats(const Place& place, std::string_view bytes);
  // What would make of the open key, if one is open, a key that its object has already: the rest
  // of each that begins like it, with the closing quote.
  std::vector<std::string> repeating_ends(const Place& place) const;

 private:
  static constexpr std::uint32_t kNone = 0;

  struct Level {
    bool is_object;
    std::uint32_t below;  // level around it, as it was when this one began
    std::uint32_t keys;   // the last of its whole keys
  };

  struct Key {
    std::string name;
    std::uint32_t before;
  };

  // True: the byte ended a key that was there already.
  bool step(Place& place, char byte);
  bool step_in_string(Place& place, char byte);
  bool end_key(Place& place);
  void open(Place& place, bool is_object);
  bool has(std::uint32_t keys, std::string_view name) const;

  std::vector<Level> levels_{{false, kNone, kNone}};
  std::vector<Key> keys_{{"", kNone}};  // the first stands for none
};

}  // namespace smol::grammar
