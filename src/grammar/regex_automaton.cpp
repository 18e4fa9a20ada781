// From an expression to its automaton: classes of code points, derivatives, trimming.
#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/utf8.h"
#include "grammar/regex.h"

namespace smol::grammar {
namespace {

// Which states reach an accepting one.
std::vector<bool> live_states(const CharDfa& dfa) {
  std::vector<std::vector<std::uint32_t>> sources(dfa.n_states());
  for (std::uint32_t state = 0; state < dfa.n_states(); ++state) {
    for (std::uint32_t c = 0; c < dfa.n_classes; ++c) {
      sources[dfa.next[state * dfa.n_classes + c]].push_back(state);
    }
  }
  std::vector<bool> live = dfa.accepts;
  std::vector<std::uint32_t> work;
  for (std::uint32_t state = 0; state < dfa.n_states(); ++state) {
    if (live[state]) {
      work.push_back(state);
    }
  }
  while (!work.empty()) {
    const std::uint32_t state = work.back();
    work.pop_back();
    for (const std::uint32_t source : sources[state]) {
      if (!live[source]) {
        live[source] = true;
        work.push_back(source);
      }
    }
  }
  return live;
}

}  // namespace

CharDfa trim(const CharDfa& complete) {
  const std::vector<bool> live = live_states(complete);
  CharDfa result;
  result.segments = complete.segments;
  result.n_classes = complete.n_classes;
  if (!live[0]) {
    return result;
  }
  std::vector<std::uint32_t> number(complete.n_states(), CharDfa::kNone);
  std::uint32_t n_live = 0;
  for (std::uint32_t state = 0; state < complete.n_states(); ++state) {
    if (live[state]) {
      number[state] = n_live++;
    }
  }
  for (std::uint32_t state = 0; state < complete.n_states(); ++state) {
    if (live[state]) {
      result.accepts.push_back(complete.accepts[state]);
      for (std::uint32_t c = 0; c < complete.n_classes; ++c) {
        result.next.push_back(number[complete.next[state * complete.n_classes + c]]);
      }
    }
  }
  return result;
}

std::uint32_t CharDfa::class_of(char32_t code_point) const noexcept {
  const auto after = std::upper_bound(
      segments.begin(), segments.end(), code_point,
      [](char32_t value, const Segment& segment) { return value < segment.first; });
  return std::prev(after)->class_id;
}

bool CharDfa::matches(std::string_view text) const noexcept {
  if (empty()) {
    return false;
  }
  std::uint32_t state = 0;
  while (!text.empty()) {
    const utf8::Step step = utf8::next(text);
    state = target(state, step.code_point);
    if (state == kNone) {
      return false;
    }
    text.remove_prefix(step.length);
  }
  return accepts[state];
}

// Code points that are in the same sets are one class.
void RegexPool::make_classes() {
  std::vector<char32_t> borders{0};
  for (const CharSet& set : sets_) {
    for (const CharRange& range : set) {
      borders.push_back(range.first);
      borders.push_back(range.last + 1);
    }
  }
  std::sort(borders.begin(), borders.end());
  borders.erase(std::unique(borders.begin(), borders.end()), borders.end());
  if (borders.back() > kMaxCodePoint) {
    borders.pop_back();
  }
  std::map<std::vector<bool>, std::uint32_t> classes;
  segments_.clear();
  for (const char32_t border : borders) {
    std::vector<bool> in(sets_.size());
    for (std::size_t i = 0; i < sets_.size(); ++i) {
      budget_.spend();
      in[i] = contains(sets_[i], border);
    }
    const auto id = static_cast<std::uint32_t>(classes.size());
    segments_.push_back({border, classes.try_emplace(std::move(in), id).first->second});
  }
  n_classes_ = static_cast<std::uint32_t>(classes.size());
  members_.assign(sets_.size(), std::vector<bool>(n_classes_));
  for (const auto& [in, id] : classes) {
    for (std::size_t i = 0; i < sets_.size(); ++i) {
      members_[i][id] = in[i];
    }
  }
}

CharDfa RegexPool::automaton(Regex root, std::size_t max_states) {
  derived_.clear();
  make_classes();
  CharDfa dfa;
  dfa.segments = segments_;
  dfa.n_classes = n_classes_;
  // The start is a state of its own: only there does ^ hold.
  std::vector<Regex> expressions{root};
  std::unordered_map<Regex, std::uint32_t> numbers;
  dfa.accepts.push_back(matches_empty(root, {true, true}));
  const auto number_of = [&](Regex expression) {
    const auto [found, is_new] =
        numbers.try_emplace(expression, static_cast<std::uint32_t>(expressions.size()));
    if (is_new) {
      if (expressions.size() >= max_states) {
        throw Error(ErrorCode::Exhausted, "needs too many states");
      }
      expressions.push_back(expression);
      dfa.accepts.push_back(matches_empty(expression, {false, true}));
    }
    return found->second;
  };
  for (std::uint32_t state = 0; state < expressions.size(); ++state) {
    for (std::uint32_t c = 0; c < n_classes_; ++c) {
      const Regex next = derive(expressions[state], c, state == 0);
      dfa.next.push_back(number_of(state == 0 ? without_begin(next) : next));
    }
  }
  return trim(dfa);
}

}  // namespace smol::grammar
