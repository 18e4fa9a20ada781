#include "text/added_tokens.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "text/unicode_classes.h"
#include "text/vocabulary.h"

namespace smol::text {
namespace {

bool has_class(std::string_view text, std::size_t at, std::uint8_t classes) {
  return (unicode::character_at(text, at).classes & classes) != 0;
}

// First byte of the white space that ends at `end`, not before `begin`.
std::size_t space_before(std::string_view text, std::size_t begin, std::size_t end) {
  while (end > begin) {
    const std::size_t start = unicode::previous_start(text, end);
    if (!has_class(text, start, unicode::kSpace)) {
      break;
    }
    end = start;
  }
  return end;
}

std::size_t space_after(std::string_view text, std::size_t begin, std::size_t end) {
  while (begin < end && has_class(text, begin, unicode::kSpace)) {
    begin += unicode::character_at(text, begin).length;
  }
  return begin;
}

}  // namespace

// What one search found: segments of its sentence.
struct AddedTokenSet::Found {
  std::vector<Segment> segments;
  std::size_t text_begin;  // of the text after the last token
  std::size_t from;        // where the search stands
  std::size_t settled;

  // Per token in `segments`: where the search stood and where its text began before it.
  struct Before {
    std::size_t from, text_begin;
  };

  std::vector<Before> before;

  void take(const Segment& token, std::size_t search_from) {
    before.push_back({from, text_begin});
    if (text_begin < token.begin) {
      segments.push_back({text_begin, token.begin, kNoToken});
    }
    segments.push_back(token);
    text_begin = token.end;
    from = search_from;
  }

  // Takes back tokens whose surroundings are not settled (white space behind them is being searched
  // still).
  void retreat() {
    while (text_begin > settled) {
      settled = std::min(settled, segments.back().begin);
      segments.pop_back();
      text_begin = before.back().text_begin;
      from = before.back().from;
      before.pop_back();
      if (!segments.empty() && segments.back().id == kNoToken) {
        segments.pop_back();
      }
    }
  }
};

AddedTokenSet::AddedTokenSet(std::vector<AddedToken> tokens) : tokens_(std::move(tokens)) {
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    const AddedToken& token = tokens_[i];
    const std::string id = std::to_string(token.id);
    if (!by_id_.emplace(token.id, i).second) {
      throw Error(ErrorCode::BadInput, "added token id " + id + ": used by two added tokens");
    }
    if (token.content.empty()) {
      continue;
    }
    if (!by_content_.emplace(token.content, i).second) {
      throw Error(ErrorCode::BadInput, "added token id " + id + ": same content as another one");
    }
    Pass& pass = passes_[token.normalized ? 1 : 0];
    pass.trie.add(token.content, static_cast<std::uint32_t>(i));
    pass.strips_left = pass.strips_left || token.lstrip;
  }
}

std::optional<ContentTrie::Hit> AddedTokenSet::next_hit(const Pass& pass, const Sentence& sentence,
                                                        std::size_t from) {
  auto range = std::lower_bound(sentence.allowed.begin(), sentence.allowed.end(), from,
                                [](const Range& r, std::size_t at) { return r.end <= at; });
  for (; range != sentence.allowed.end() && range->begin < sentence.end; ++range) {
    const std::size_t begin = std::max(from, range->begin);
    const std::size_t end = std::min(sentence.end, range->end);
    if (begin < end) {
      if (const auto hit = pass.trie.find(sentence.text, begin, end, sentence.open)) {
        return hit;
      }
    }
  }
  return std::nullopt;
}

AddedTokenSet::Fit AddedTokenSet::fit(const Sentence& sentence, const ContentTrie::Hit& hit,
                                      Segment& segment) const {
  if (hit.undecided) {
    return Fit::Undecided;
  }
  const AddedToken& token = tokens_[hit.index];
  segment = {hit.begin, hit.end, token.id};
  if (sentence.mode == AddedTokens::OnlyNonSpecial && token.special) {
    return Fit::PassedOver;
  }
  const bool at_end = hit.end == sentence.end;
  if (token.single_word) {
    const bool word_before =
        hit.begin == sentence.begin
            ? sentence.word_before
            : has_class(sentence.text, unicode::previous_start(sentence.text, hit.begin),
                        unicode::kWord);
    if (word_before || (!at_end && has_class(sentence.text, hit.end, unicode::kWord))) {
      return Fit::PassedOver;
    }
    if (at_end && sentence.open) {
      return Fit::Undecided;
    }
  }
  if (token.lstrip) {
    segment.begin = space_before(sentence.text, sentence.begin, hit.begin);
  }
  if (token.rstrip) {
    segment.end = space_after(sentence.text, hit.end, sentence.end);
    if (segment.end == sentence.end && sentence.open) {
      return Fit::Undecided;
    }
  }
  return Fit::Taken;
}

AddedTokenSet::Found AddedTokenSet::search(const Pass& pass, const Sentence& sentence) const {
  Found found{{}, sentence.begin, std::max(sentence.begin, sentence.search_from), sentence.end, {}};
  std::optional<ContentTrie::Hit> hit = next_hit(pass, sentence, found.from);
  for (; hit; hit = next_hit(pass, sentence, found.from)) {
    Segment token{};
    const Fit result = fit(sentence, *hit, token);
    if (result == Fit::Undecided) {
      break;
    }
    if (result == Fit::PassedOver) {
      found.from = hit->end;
      continue;
    }
    if (tokens_[hit->index].lstrip) {  // white space that is taken already stays so
      token.begin = std::max(token.begin, found.text_begin);
    }
    found.take(token, hit->end);
  }
  if (sentence.open) {
    found.settled = hit ? hit->begin : sentence.end;
    found.from = std::max(found.from, found.settled);
    found.retreat();
    if (pass.strips_left) {
      found.settled = space_before(sentence.text, found.text_begin, found.settled);
    }
  }
  if (found.text_begin < found.settled) {
    found.segments.push_back({found.text_begin, found.settled, kNoToken});
  }
  return found;
}

AddedTokenSet::Split AddedTokenSet::split(std::string_view text, std::span<const Range> allowed,
                                          AddedTokens mode, const Progress& progress,
                                          bool open) const {
  if (mode == AddedTokens::None) {
    std::vector<Segment> all;
    if (!text.empty()) {
      all.push_back({0, text.size(), kNoToken});
    }
    return {std::move(all), text.size(), 0, {}};
  }
  Found first = search(passes_[0], {text, 0, text.size(), allowed, mode, open,
                                    progress.search_from[0], progress.word_before[0]});
  Split split{{}, first.settled, first.settled, {{first.from, first.settled}, {}}};
  for (const Segment& segment : first.segments) {
    if (segment.id != kNoToken) {
      split.segments.push_back(segment);
      continue;
    }
    const bool continued = segment.begin == 0;
    const bool is_open = open && segment.end == first.settled;
    const Found second = search(passes_[1], {text, segment.begin, segment.end, allowed, mode,
                                             is_open, continued ? progress.search_from[1] : 0,
                                             continued && progress.word_before[1]});
    split.segments.insert(split.segments.end(), second.segments.begin(), second.segments.end());
    if (is_open) {
      split.settled = second.settled;
      split.sentence = segment.begin;
      split.progress.search_from[1] = second.from;
    }
  }
  return split;
}

const AddedToken* AddedTokenSet::find(std::string_view content) const noexcept {
  const auto found = by_content_.find(std::string(content));
  return found == by_content_.end() ? nullptr : &tokens_[found->second];
}

const AddedToken* AddedTokenSet::find(TokenId id) const noexcept {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : &tokens_[found->second];
}

}  // namespace smol::text
