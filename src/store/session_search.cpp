// SessionStore: search. Words of three characters and more go through the trigram index, shorter
// ones (common in Chinese, Japanese and Korean) are looked for in what is left.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.h"
#include "store/checks.h"
#include "store/connection.h"
#include "store/fold.h"
#include "store/session_store.h"

namespace smol::store {
namespace {

constexpr std::size_t kTrigram = 3;
constexpr std::size_t kMostWords = 16;
constexpr std::size_t kBefore = 40;  // characters of context
constexpr std::size_t kAfter = 80;

struct Query {
  std::string whole;                     // folded
  std::vector<std::string> words;        // folded
  std::string match;                     // of the index: all long words; "" if there are none
  std::vector<std::string> short_words;  // folded; the index does not know them
};

// The index's query language ends at a NUL.
bool is_blank(char c) noexcept {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\0';
}

// A phrase of FTS5's query language.
std::string phrase(std::string_view word) {
  std::string out = "\"";
  for (const char c : word) {
    out += c == '"' ? "\"\"" : std::string(1, c);
  }
  return out + '"';
}

Query query_of(std::string_view text) {
  Query query;
  std::string word;
  const auto take_word = [&] {
    if (!word.empty() && query.words.size() < kMostWords) {
      query.words.push_back(word);
      if (utf8::length(word) >= kTrigram) {
        query.match += (query.match.empty() ? "" : " ") + phrase(word);
      } else {
        query.short_words.push_back(word);
      }
    }
    word.clear();
  };
  for (const char c : folded(text)) {
    if (is_blank(c)) {
      take_word();
    } else {
      word += c;
    }
  }
  take_word();
  for (const std::string& each : query.words) {
    query.whole += (query.whole.empty() ? "" : " ") + each;
  }
  return query;
}

bool holds_all(std::string_view text, const std::vector<std::string>& words) {
  return std::ranges::all_of(words,
                             [&](const auto& word) { return find_folded(text, word).has_value(); });
}

// `count` characters further (or, where negative, back) in the text.
std::size_t moved(std::string_view text, std::size_t at, std::size_t count) {
  for (; count > 0 && at < text.size(); --count) {
    at += utf8::next(text.substr(at)).length;
  }
  return at;
}

std::size_t moved_back(std::string_view text, std::size_t at, std::size_t count) {
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; };
  for (; count > 0 && at > 0; --count) {
    do {
      --at;
    } while (at > 0 && continues(text[at]));
  }
  return at;
}

std::string in_one_line(std::string_view text) {
  std::string line(text);
  std::ranges::replace_if(line, is_blank, ' ');
  return line;
}

void set_snippet(SearchHit& hit, std::string_view text, const Query& query) {
  auto place = find_folded(text, query.whole);
  for (const std::string& word : query.words) {
    if (!place) {
      place = find_folded(text, word);
    }
  }
  const Span span = place.value_or(Span{});
  const std::size_t begin = moved_back(text, span.begin, kBefore);
  const std::size_t end = moved(text, span.end, kAfter);
  hit.before = (begin > 0 ? "…" : "") + in_one_line(text.substr(begin, span.begin - begin));
  hit.match = in_one_line(text.substr(span.begin, span.end - span.begin));
  hit.after = in_one_line(text.substr(span.end, end - span.end)) + (end < text.size() ? "…" : "");
}

void add_titles(Connection& db, const Query& query, std::size_t limit, SearchResult& result) {
  Rows row =
      db.query("SELECT id, title FROM sessions WHERE deletion_id IS NULL ORDER BY updated_at DESC");
  while (row.next()) {
    std::string title = row.text(1);
    if (!holds_all(title, query.words)) {
      continue;
    }
    ++result.total;
    if (result.hits.size() < limit) {
      result.hits.push_back({row.text(0), std::move(title), std::nullopt, "", "", ""});
    }
  }
}

// One hit a message, from rows of its parts that have all words but perhaps short ones.
void add_messages(Rows row, const Query& query, std::size_t limit, SearchResult& result) {
  MessageId last = 0;
  while (row.next()) {
    const MessageId id = row.integer(0);
    if (id == last) {
      continue;  // another part of the same message
    }
    const bool wanted = result.hits.size() < limit;
    const std::string text = wanted || !query.short_words.empty() ? row.text(3) : "";
    if (!holds_all(text, query.short_words)) {
      continue;
    }
    last = id;
    ++result.total;
    if (wanted) {
      SearchHit hit{row.text(1), row.text(2), id, "", "", ""};
      set_snippet(hit, text, query);
      result.hits.push_back(std::move(hit));
    }
  }
}

}  // namespace

SearchResult SessionStore::search(std::string_view text, std::size_t limit) const {
  check_text(text, "query");
  const Query query = query_of(text);
  SearchResult result;
  if (query.words.empty()) {
    return result;
  }
  const Lock lock(mutex_);
  const Transaction snapshot(*connection_);
  add_titles(*connection_, query, limit, result);
  if (query.match.empty()) {
    add_messages(connection_->query(
                     "SELECT m.id, s.id, s.title, p.text FROM messages m"
                     " JOIN sessions s ON s.id = m.session_id JOIN parts p ON p.message_id = m.id"
                     " WHERE p.searchable AND m.deletion_id IS NULL AND s.deletion_id IS NULL"
                     " AND holds(p.text, ?1) ORDER BY m.id DESC, p.position",
                     std::string_view(query.short_words.front())),
                 query, limit, result);
  } else {
    add_messages(
        connection_->query("SELECT m.id, s.id, s.title, p.text FROM found_parts f"
                           " JOIN parts p ON p.id = f.rowid JOIN messages m ON m.id = p.message_id"
                           " JOIN sessions s ON s.id = m.session_id"
                           " WHERE found_parts MATCH ?1 AND m.deletion_id IS NULL"
                           " AND s.deletion_id IS NULL ORDER BY m.id DESC, p.position",
                           std::string_view(query.match)),
        query, limit, result);
  }
  return result;
}

}  // namespace smol::store
