#include "grammar/regex.h"

#include <algorithm>

#include "base/error.h"
#include "base/utf8.h"

namespace smol::grammar {
void StepBudget::spend(std::size_t steps) {
  if (left < steps) {
    left = 0;
    throw Error(ErrorCode::Exhausted, "takes too many steps");
  }
  left -= steps;
}

RegexPool::RegexPool(StepBudget& budget) : budget_(budget) {
  nodes_.push_back({Kind::Nothing, false, false});
  nodes_.push_back({Kind::Empty, true, true});
  nodes_.push_back({Kind::Begin, false, false});
  nodes_.push_back({Kind::End, false, true});
  // Made by hand, so that it has its number before any other set exists.
  sets_.push_back(any_character());
  nodes_.push_back({Kind::Repeat, true, true, 5, 0, 0, kUnbounded});
  nodes_.push_back({Kind::Class, false, false, 0});
  set_nodes_.emplace(sets_[0], 5);
  known_.emplace(
      std::vector<std::uint32_t>{static_cast<std::uint32_t>(Kind::Repeat), 5, 0, 0, kUnbounded}, 4);
}

Regex RegexPool::intern(Node node) {
  std::vector<std::uint32_t> key{static_cast<std::uint32_t>(node.kind), node.a, node.b, node.min,
                                 node.max};
  const auto [found, is_new] = known_.try_emplace(std::move(key), 0);
  if (is_new) {
    if (nodes_.size() >= kMaxNodes) {
      throw Error(ErrorCode::Exhausted, "is too large");
    }
    found->second = static_cast<Regex>(nodes_.size());
    nodes_.push_back(node);
  }
  return found->second;
}

std::span<const Regex> RegexPool::items(const Node& node) const {
  return std::span(lists_).subspan(node.a, node.b);
}

Regex RegexPool::one_of(const CharSet& set) {
  if (set.empty()) {
    return nothing();
  }
  const auto [found, is_new] = set_nodes_.try_emplace(set, 0);
  if (is_new) {
    sets_.push_back(set);
    found->second =
        intern({Kind::Class, false, false, static_cast<std::uint32_t>(sets_.size() - 1)});
  }
  return found->second;
}

Regex RegexPool::text(std::string_view valid_utf8) {
  std::vector<char32_t> characters;
  while (!valid_utf8.empty()) {
    const utf8::Step step = utf8::next(valid_utf8);
    characters.push_back(step.code_point);
    valid_utf8.remove_prefix(step.length);
  }
  Regex whole = empty();
  for (std::size_t i = characters.size(); i-- > 0;) {
    whole = concat(one_of({{characters[i], characters[i]}}), whole);
  }
  return whole;
}

Regex RegexPool::concat(Regex first, Regex second) {
  if (first == nothing() || second == nothing()) {
    return nothing();
  }
  if (first == empty()) {
    return second;
  }
  if (second == empty() || (first == anything() && second == anything())) {
    return first;
  }
  if (nodes_[first].kind == Kind::Concat) {
    const Node node = nodes_[first];
    return concat(node.a, concat(node.b, second));
  }
  const Node &a = nodes_[first], &b = nodes_[second];
  return intern({Kind::Concat, a.empty_inside && b.empty_inside, a.empty_at_end && b.empty_at_end,
                 first, second});
}

Regex RegexPool::list_node(Kind kind, std::vector<Regex> items) {
  std::vector<std::uint32_t> key(items.begin(), items.end());
  key.insert(key.begin(), {static_cast<std::uint32_t>(kind) + 100});
  const auto [found, is_new] = known_.try_emplace(std::move(key), 0);
  if (!is_new) {
    return found->second;
  }
  if (nodes_.size() >= kMaxNodes || lists_.size() >= 8 * kMaxNodes) {
    throw Error(ErrorCode::Exhausted, "is too large");
  }
  const auto all_or_any = [&](bool Node::*flag) {
    const auto holds = [&](Regex item) { return nodes_[item].*flag; };
    return kind == Kind::And ? std::all_of(items.begin(), items.end(), holds)
                             : std::any_of(items.begin(), items.end(), holds);
  };
  const Node node{kind, all_or_any(&Node::empty_inside), all_or_any(&Node::empty_at_end),
                  static_cast<std::uint32_t>(lists_.size()),
                  static_cast<std::uint32_t>(items.size())};
  lists_.insert(lists_.end(), items.begin(), items.end());
  found->second = static_cast<Regex>(nodes_.size());
  nodes_.push_back(node);
  return found->second;
}

Regex RegexPool::either(const std::vector<Regex>& options) {
  std::vector<Regex> flat;
  for (const Regex option : options) {
    if (nodes_[option].kind == Kind::Or) {
      const auto inner = items(nodes_[option]);
      flat.insert(flat.end(), inner.begin(), inner.end());
    } else if (option != nothing()) {
      flat.push_back(option);
    }
  }
  std::sort(flat.begin(), flat.end());
  flat.erase(std::unique(flat.begin(), flat.end()), flat.end());
  if (flat.empty()) {
    return nothing();
  }
  if (std::binary_search(flat.begin(), flat.end(), anything())) {
    return anything();
  }
  return flat.size() == 1 ? flat[0] : list_node(Kind::Or, std::move(flat));
}

Regex RegexPool::both(const std::vector<Regex>& all) {
  std::vector<Regex> flat;
  for (const Regex item : all) {
    if (item == nothing()) {
      return nothing();
    }
    if (nodes_[item].kind == Kind::And) {
      const auto inner = items(nodes_[item]);
      flat.insert(flat.end(), inner.begin(), inner.end());
    } else if (item != anything()) {
      flat.push_back(item);
    }
  }
  std::sort(flat.begin(), flat.end());
  flat.erase(std::unique(flat.begin(), flat.end()), flat.end());
  if (flat.empty()) {
    return anything();
  }
  return flat.size() == 1 ? flat[0] : list_node(Kind::And, std::move(flat));
}

Regex RegexPool::except(Regex inner) {
  if (inner == nothing()) {
    return anything();
  }
  if (inner == anything()) {
    return nothing();
  }
  const Node node = nodes_[inner];
  if (node.kind == Kind::Not) {
    return node.a;
  }
  return intern({Kind::Not, !node.empty_inside, !node.empty_at_end, inner});
}

Regex RegexPool::repeat(Regex inner, std::uint32_t min, std::uint32_t max) {
  if (max == 0 || inner == empty()) {
    return empty();
  }
  if (inner == nothing()) {
    return min == 0 ? empty() : nothing();
  }
  if (min == 1 && max == 1) {
    return inner;
  }
  const Node node = nodes_[inner];
  if (node.kind == Kind::Repeat && node.min == 0 && node.max == kUnbounded) {
    return inner;
  }
  if (node.empty_inside) {
    min = 0;
  }
  return intern({Kind::Repeat, min == 0, min == 0 || node.empty_at_end, inner, 0, min, max});
}

bool RegexPool::matches_empty(Regex root, Where where) const {
  const Node& node = nodes_[root];
  const auto inner = [&](Regex item) { return matches_empty(item, where); };
  if (!where.at_begin) {
    return where.at_end ? node.empty_at_end : node.empty_inside;
  }
  switch (node.kind) {
    case Kind::Begin:
    case Kind::Empty:
      return true;
    case Kind::End:
      return where.at_end;
    case Kind::Nothing:
    case Kind::Class:
      return false;
    case Kind::Concat:
      return inner(node.a) && inner(node.b);
    case Kind::Not:
      return !inner(node.a);
    case Kind::Repeat:
      return node.min == 0 || inner(node.a);
    case Kind::Or:
      return std::any_of(items(node).begin(), items(node).end(), inner);
    case Kind::And:
      return std::all_of(items(node).begin(), items(node).end(), inner);
  }
  return false;
}

std::vector<Regex> RegexPool::derive_all(std::span<const Regex> list, std::uint32_t class_id,
                                         bool at_begin) {
  std::vector<Regex> derived;
  const std::vector<Regex> copy(list.begin(), list.end());  // lists_ may grow
  derived.reserve(copy.size());
  for (const Regex item : copy) {
    derived.push_back(derive(item, class_id, at_begin));
  }
  return derived;
}

Regex RegexPool::derive(Regex root, std::uint32_t class_id, bool at_begin) {
  const std::uint64_t key =
      (std::uint64_t{root} << 20U) | (std::uint64_t{class_id} << 1U) | (at_begin ? 1U : 0U);
  if (const auto found = derived_.find(key); found != derived_.end()) {
    return found->second;
  }
  const Regex result = derive_new(root, class_id, at_begin);
  derived_.emplace(key, result);
  return result;
}

Regex RegexPool::derive_new(Regex root, std::uint32_t class_id, bool at_begin) {
  budget_.spend();
  const Node node = nodes_[root];
  switch (node.kind) {
    case Kind::Nothing:
    case Kind::Empty:
    case Kind::Begin:
    case Kind::End:
      return nothing();
    case Kind::Class:
      return members_[node.a][class_id] ? empty() : nothing();
    case Kind::Concat: {
      const Regex first = concat(derive(node.a, class_id, at_begin), node.b);
      if (!matches_empty(node.a, {at_begin, false})) {
        return first;
      }
      return either({first, derive(node.b, class_id, at_begin)});
    }
    case Kind::Or:
      return either(derive_all(items(node), class_id, at_begin));
    case Kind::And:
      return both(derive_all(items(node), class_id, at_begin));
    case Kind::Not:
      return except(derive(node.a, class_id, at_begin));
    case Kind::Repeat: {
      const bool free = node.min == 0 || matches_empty(node.a, {at_begin, false});
      const std::uint32_t min = free ? 0 : node.min - 1;
      const std::uint32_t max = node.max == kUnbounded ? kUnbounded : node.max - 1;
      return concat(derive(node.a, class_id, at_begin), repeat(node.a, min, max));
    }
  }
  return nothing();
}

// Behind the first character ^ no longer holds.
Regex RegexPool::without_begin(Regex root) {
  const Node node = nodes_[root];
  switch (node.kind) {
    case Kind::Begin:
      return nothing();
    case Kind::Concat:
      return concat(without_begin(node.a), without_begin(node.b));
    case Kind::Or:
    case Kind::And: {
      std::vector<Regex> list(items(node).begin(), items(node).end());
      for (Regex& item : list) {
        item = without_begin(item);
      }
      return node.kind == Kind::Or ? either(list) : both(list);
    }
    case Kind::Not:
      return except(without_begin(node.a));
    case Kind::Repeat:
      return repeat(without_begin(node.a), node.min, node.max);
    default:
      return root;
  }
}

}  // namespace smol::grammar
