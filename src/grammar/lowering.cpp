#include "grammar/lowering.h"

#include <algorithm>
#include <map>
#include <vector>

#include "base/check.h"

namespace smol::grammar {
namespace {

// Letter of the short escape of a character, or 0.
char short_escape(char32_t character) {
  switch (character) {
    case '"':
    case '\\':
      return static_cast<char>(character);
    case '\b':
      return 'b';
    case '\f':
      return 'f';
    case '\n':
      return 'n';
    case '\r':
      return 'r';
    case '\t':
      return 't';
    default:
      return 0;
  }
}

constexpr std::string_view kHexDigits = "0123456789abcdef";

class Lowering {
 public:
  Lowering(Lexicon& lexicon, const CharDfa& dfa) : lexicon_(lexicon), dfa_(dfa) {}

  LexState text() {
    add_states(true);
    for (std::uint32_t state = 0; state < dfa_.n_states(); ++state) {
      for (char32_t c = 0; c < 0x80; ++c) {
        lexicon_.set(starts_[state], static_cast<std::uint8_t>(c), target(state, c));
      }
      set_multibyte(state);
    }
    return starts_[0];
  }

  LexState string(LexState tail) {
    add_states(false);
    for (std::uint32_t state = 0; state < dfa_.n_states(); ++state) {
      for (char32_t c = 0x20; c < 0x80; ++c) {
        if (short_escape(c) == 0) {
          lexicon_.set(starts_[state], static_cast<std::uint8_t>(c), target(state, c));
        }
      }
      set_escapes(state);
      set_multibyte(state);
      if (dfa_.accepts[state]) {
        lexicon_.set(starts_[state], '"', tail);
      }
    }
    const LexState quote = lexicon_.add_dense(false);
    lexicon_.set(quote, '"', starts_[0]);
    return quote;
  }

 private:
  void add_states(bool may_accept) {
    for (std::uint32_t state = 0; state < dfa_.n_states(); ++state) {
      starts_.push_back(lexicon_.add_dense(may_accept && dfa_.accepts[state]));
    }
  }

  LexState target(std::uint32_t state, char32_t character) const {
    const std::uint32_t next = dfa_.target(state, character);
    return next == CharDfa::kNone ? kDead : starts_[next];
  }

  // The dense state of this row, or kDead for an empty one.
  LexState state_of(const Lexicon::Row& row) {
    if (row == Lexicon::Row{}) {
      return kDead;
    }
    const auto [found, is_new] = known_.try_emplace(row, kDead);
    if (is_new) {
      found->second = lexicon_.add_dense(false);
      lexicon_.set_row(found->second, row);
    }
    return found->second;
  }

  LexState step(std::uint8_t byte, LexState to) {
    Lexicon::Row row{};
    row[byte] = static_cast<std::uint16_t>(to);
    return state_of(row);
  }

  void set_escapes(std::uint32_t state) {
    Lexicon::Row escape{};
    Lexicon::Row low{};   // behind \u000
    Lexicon::Row high{};  // behind \u001
    for (char32_t c = 0; c < 0x80; ++c) {
      const LexState to = target(state, c);
      if (const char letter = short_escape(c); letter != 0) {
        escape[static_cast<std::uint8_t>(letter)] = static_cast<std::uint16_t>(to);
      } else if (c < 0x20) {
        const char digit = kHexDigits[c & 0xFU];
        Lexicon::Row& row = c < 0x10 ? low : high;
        row[static_cast<std::uint8_t>(digit)] = static_cast<std::uint16_t>(to);
      }
    }
    Lexicon::Row third{};
    third['0'] = static_cast<std::uint16_t>(state_of(low));
    third['1'] = static_cast<std::uint16_t>(state_of(high));
    if (const LexState digits = state_of(third); digits != kDead) {
      escape['u'] = static_cast<std::uint16_t>(step('0', step('0', digits)));
    }
    lexicon_.set(starts_[state], '\\', state_of(escape));
  }

  // All characters of [first, last] that UTF-8 writes in more than one byte go where the first
  // goes.
  bool uniform(std::uint32_t state, char32_t first, char32_t last) const {
    const LexState to = target(state, first);
    for (const CharDfa::Segment& segment : dfa_.segments) {
      if (segment.first > first && segment.first <= last && target(state, segment.first) != to) {
        return false;
      }
    }
    return true;
  }

  // A state from which `n_bytes` continuation bytes lead to `to`.
  LexState chain(int n_bytes, LexState to) {
    if (n_bytes == 0 || to == kDead) {
      return to;
    }
    const auto [found, is_new] = chains_.try_emplace({n_bytes, to}, kDead);
    if (is_new) {
      const LexState behind = chain(n_bytes - 1, to);
      Lexicon::Row row{};
      for (unsigned byte = 0x80; byte <= 0xBF; ++byte) {
        row[byte] = static_cast<std::uint16_t>(behind);
      }
      found->second = state_of(row);
    }
    return found->second;
  }

  // Behind a prefix of UTF-8 that leaves `n_bytes` bytes open, for the characters from `first` on;
  // those below `least` would be overlong.
  LexState block(std::uint32_t state, char32_t first, int n_bytes, char32_t least) {
    const char32_t size = char32_t{1} << (6U * static_cast<unsigned>(n_bytes));
    const char32_t last = first + size - 1;
    const auto is_surrogate = [](char32_t c) { return c >= 0xD800 && c <= 0xDFFF; };
    if (last < least || first > kMaxCodePoint || (is_surrogate(first) && is_surrogate(last))) {
      return kDead;
    }
    const bool whole = first >= least && last <= kMaxCodePoint && (last < 0xD800 || first > 0xDFFF);
    if (whole && uniform(state, first, last)) {
      return chain(n_bytes, target(state, first));
    }
    SMOL_CHECK(n_bytes > 0);
    Lexicon::Row row{};
    for (unsigned i = 0; i < 64; ++i) {
      const char32_t start = first + i * (size / 64);
      row[0x80 + i] = static_cast<std::uint16_t>(block(state, start, n_bytes - 1, least));
    }
    return state_of(row);
  }

  // States that lead on alike beyond ASCII share what follows.
  void set_multibyte(std::uint32_t state) {
    std::vector<LexState> targets;
    for (std::size_t i = 0; i < dfa_.segments.size(); ++i) {
      if (i + 1 == dfa_.segments.size() || dfa_.segments[i + 1].first > 0x80) {
        targets.push_back(target(state, dfa_.segments[i].first));
      }
    }
    if (std::all_of(targets.begin(), targets.end(), [](LexState to) { return to == kDead; })) {
      return;
    }
    const auto [found, is_new] = multibyte_.try_emplace(std::move(targets));
    if (is_new) {
      for (unsigned lead = 0xC2; lead <= 0xF4; ++lead) {
        found->second[lead] = static_cast<std::uint16_t>(behind_lead(state, lead));
      }
    }
    for (unsigned lead = 0xC2; lead <= 0xF4; ++lead) {
      lexicon_.set(starts_[state], static_cast<std::uint8_t>(lead), found->second[lead]);
    }
  }

  LexState behind_lead(std::uint32_t state, unsigned lead) {
    if (lead < 0xE0) {
      return block(state, (lead & 0x1FU) << 6U, 1, 0x80);
    }
    return lead < 0xF0 ? block(state, (lead & 0xFU) << 12U, 2, 0x800)
                       : block(state, (lead & 0x7U) << 18U, 3, 0x10000);
  }

  Lexicon& lexicon_;
  const CharDfa& dfa_;
  std::vector<LexState> starts_;
  std::map<Lexicon::Row, LexState> known_;
  std::map<std::pair<int, LexState>, LexState> chains_;
  std::map<std::vector<LexState>, Lexicon::Row> multibyte_;
};

}  // namespace

LexState lower_text(Lexicon& lexicon, const CharDfa& dfa) {
  SMOL_CHECK(!dfa.empty());
  return Lowering(lexicon, dfa).text();
}

LexState lower_string(Lexicon& lexicon, const CharDfa& dfa, LexState tail) {
  SMOL_CHECK(!dfa.empty());
  return Lowering(lexicon, dfa).string(tail);
}

LexState lower_other_keys(Lexicon& lexicon, std::span<const std::string_view> names) {
  const CommonStates& common = Lexicon::common();
  // States of the names' prefixes: as the common key's, but for the bytes of the names. Behind a
  // whole name the closing quote is missing.
  const LexState start = lexicon.add_like(common.key);
  for (const std::string_view name : names) {
    const std::string written = canonical_string(name);
    LexState state = start;
    for (std::size_t i = 0; i + 1 < written.size(); ++i) {
      const auto byte = static_cast<std::uint8_t>(written[i]);
      LexState next = lexicon.next(state, byte);
      if (next < common.end) {
        next = lexicon.add_like(next);
        lexicon.set(state, byte, next);
      }
      state = next;
    }
    lexicon.set(state, '"', kDead);
  }
  return start;
}

std::string canonical_string(std::string_view valid_utf8) {
  std::string written = "\"";
  for (const char c : valid_utf8) {
    const auto byte = static_cast<unsigned char>(c);
    if (const char letter = short_escape(byte); letter != 0) {
      written += {'\\', letter};
    } else if (byte < 0x20) {
      written += {'\\', 'u', '0', '0', kHexDigits[byte >> 4U], kHexDigits[byte & 0xFU]};
    } else {
      written += c;
    }
  }
  return written + '"';
}

}  // namespace smol::grammar
