// The filter urlize: links in plain text, by the rules of jinja2.utils.urlize.
#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>

#include "jinja/arguments.h"
#include "jinja/filter_functions.h"
#include "jinja/iteration.h"
#include "jinja/markup.h"
#include "jinja/names.h"
#include "jinja/operators.h"
#include "jinja/string_methods.h"
#include "jinja/strings.h"
#include "jinja/text.h"
#include "jinja/unicode.h"

namespace smol::jinja::filters {
namespace {

std::string lower_ascii(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return result;
}

template <class Predicate>
bool all_of(std::string_view text, std::size_t least, std::size_t most,
            const Predicate& predicate) {
  const std::u32string all = decode(text);
  return all.size() >= least && all.size() <= most &&
         std::all_of(all.begin(), all.end(), predicate);
}

bool is_label_character(char32_t c) noexcept {
  return unicode::is_word(c) || c == U'%' || c == U'-';
}

bool is_ascii_letter(char32_t c) noexcept {
  return (c | 0x20U) >= U'a' && (c | 0x20U) <= U'z';
}

constexpr std::size_t kAny = static_cast<std::size_t>(-1);

// (LABEL.)* before the last point, each label of `least` to `most` characters.
bool are_labels(std::string_view text, std::size_t least, std::size_t most) {
  while (!text.empty()) {
    const std::size_t dot = text.find('.');
    if (dot == std::string_view::npos ||
        !all_of(text.substr(0, dot), least, most, is_label_character)) {
      return false;
    }
    text.remove_prefix(dot + 1);
  }
  return true;
}

bool is_top_level(std::string_view label) {
  const std::string lower = lower_ascii(label);
  if (lower.starts_with("xn--")) {
    return all_of(std::string_view(lower).substr(4), 2, 59,
                  [](char32_t c) { return unicode::is_word(c) || c == U'%'; });
  }
  return all_of(label, 2, 63, is_ascii_letter);
}

bool is_address(std::string_view host) {
  std::size_t groups = 0;
  for (;;) {
    const std::size_t dot = std::min(host.find('.'), host.size());
    if (!all_of(host.substr(0, dot), 1, 3,
                [](char32_t c) { return unicode::has(c, unicode::Property::Decimal); })) {
      return false;
    }
    ++groups;
    if (dot == host.size()) {
      return groups == 4;
    }
    host.remove_prefix(dot + 1);
  }
}

// [x:x:x...]: between three and eight groups of up to four hexadecimal digits.
bool is_bracketed_address(std::string_view host) {
  if (host.size() < 2 || host.front() != '[' || host.back() != ']') {
    return false;
  }
  host = host.substr(1, host.size() - 2);
  std::size_t colons = 0;
  std::size_t digits = 0;
  for (const char c : host) {
    const bool hex = (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
    if (c != ':' && !hex) {
      return false;
    }
    colons += c == ':' ? 1 : 0;
    digits = c == ':' ? 0 : digits + 1;
    if (digits > 4) {
      return false;
    }
  }
  return colons >= 2 && colons <= 8;
}

std::string_view without_port(std::string_view host) {
  const std::size_t colon = host.rfind(':');
  if (colon == std::string_view::npos) {
    return host;
  }
  const bool port = all_of(host.substr(colon + 1), 1, 5,
                           [](char32_t c) { return unicode::has(c, unicode::Property::Decimal); });
  return port ? host.substr(0, colon) : host;
}

bool is_host(std::string_view host, bool scheme) {
  const bool www = lower_ascii(host.substr(0, 4)) == "www.";
  const std::string_view named = !scheme && www ? host.substr(4) : host;
  const std::size_t dot = named.rfind('.');
  const std::string_view labels = dot == std::string_view::npos ? "" : named.substr(0, dot + 1);
  const std::string_view last = dot == std::string_view::npos ? named : named.substr(dot + 1);
  if ((scheme || www) && are_labels(labels, 1, kAny) && is_top_level(last)) {
    return true;
  }
  if (scheme) {
    return is_address(host) || is_bracketed_address(host);
  }
  static constexpr std::array<std::string_view, 8> kKnown = {"com", "net", "int",  "edu",
                                                             "gov", "org", "info", "mil"};
  const std::string lower = lower_ascii(last);
  return !labels.empty() && are_labels(labels, 2, 63) &&
         std::find(kKnown.begin(), kKnown.end(), lower) != kKnown.end();
}

bool is_url(std::string_view word) {
  const std::string start = lower_ascii(word.substr(0, 8));
  const std::size_t scheme =
      start.starts_with("http://") ? 7 : (start.starts_with("https://") ? 8 : 0);
  const std::string_view rest = word.substr(scheme);
  const std::string_view host = rest.substr(0, rest.find_first_of("/?#"));
  return is_host(without_port(host), scheme > 0) || is_host(host, scheme > 0);
}

bool is_email(std::string_view word) {
  const std::size_t at = word.rfind('@');
  if (at == std::string_view::npos || at == 0) {
    return false;
  }
  const std::string_view domain = word.substr(at + 1);
  const std::size_t dot = domain.rfind('.');
  if (dot == std::string_view::npos || dot == 0) {
    return false;
  }
  const bool ends = all_of(domain.substr(dot + 1), 1, kAny, unicode::is_word);
  const std::u32string first = decode(domain.substr(0, dot));
  return ends && unicode::is_word(first.front()) &&
         std::all_of(first.begin(), first.end(),
                     [](char32_t c) { return unicode::is_word(c) || c == U'.' || c == U'-'; });
}

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (auto at = find_bytes(text, part); at; at = find_bytes(text, part, *at + part.size())) {
    ++count;
  }
  return count;
}

class Linker {
 public:
  Linker(Runtime& runtime, std::optional<std::size_t> limit, std::string attributes, List schemes)
      : runtime_(runtime),
        limit_(limit),
        attributes_(std::move(attributes)),
        schemes_(std::move(schemes)) {}

  void append_word(MarkedString& out, const MarkedString& word) {
    const std::string_view bytes = word.bytes();
    std::size_t begin = 0;
    for (std::size_t length = 1; length > 0; begin += length) {
      length = leading(bytes.substr(begin));
    }
    std::size_t end = bytes.size();
    while (end > begin) {
      const std::size_t length = trailing(bytes.substr(begin, end - begin));
      if (length == 0) {
        break;
      }
      end -= length;
    }
    end = balance(bytes, begin, end);
    out.append(word, 0, begin);
    append_link(out, word.substr(begin, end));
    out.append(word, end, word.size());
    runtime_.budget().charge(out.size() > 0 ? word.size() * 4 : 0);
  }

 private:
  static std::size_t leading(std::string_view text) {
    if (text.starts_with("&lt;")) {
      return 4;
    }
    return text.starts_with("(") || text.starts_with("<") ? 1 : 0;
  }

  static std::size_t trailing(std::string_view text) {
    if (text.ends_with("&gt;")) {
      return 4;
    }
    return !text.empty() && std::string_view(")>.,\n").find(text.back()) != std::string_view::npos
               ? 1
               : 0;
  }

  // Takes closing brackets back into the link that it opens itself.
  static std::size_t balance(std::string_view bytes, std::size_t begin, std::size_t end) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kPairs = {
        {{"(", ")"}, {"<", ">"}, {"&lt;", "&gt;"}}};
    for (const auto& [open, close] : kPairs) {
      const std::string_view middle = bytes.substr(begin, end - begin);
      const std::size_t opened = count_of(middle, open);
      if (opened <= count_of(middle, close)) {
        continue;
      }
      const std::size_t available = count_of(bytes.substr(end), close);
      for (std::size_t i = 0; i < std::min(opened, available); ++i) {
        end = *find_bytes(bytes, close, end) + close.size();
      }
    }
    return end;
  }

  void append_anchor(MarkedString& out, std::string_view prefix, const MarkedString& target,
                     const MarkedString& shown, bool with_attributes) {
    out.append("<a href=\"" + std::string(prefix), Origin::Template);
    out.append(target);
    out.append("\"" + (with_attributes ? attributes_ : "") + ">", Origin::Template);
    out.append(shown);
    out.append("</a>", Origin::Template);
    runtime_.budget().charge(target.size() + shown.size() + attributes_.size());
  }

  MarkedString trimmed(const MarkedString& url) const {
    if (!limit_ || count_characters(url.bytes()) <= *limit_) {
      return url;
    }
    MarkedString shown = url.substr(0, byte_of_character(url.bytes(), *limit_));
    shown.append("...", Origin::Template);
    return shown;
  }

  void append_link(MarkedString& out, const MarkedString& middle) {
    const std::string& bytes = middle.bytes();
    if (is_url(bytes)) {
      const bool scheme = bytes.starts_with("https://") || bytes.starts_with("http://");
      append_anchor(out, scheme ? "" : "https://", middle, trimmed(middle), true);
    } else if (bytes.starts_with("mailto:") && is_email(std::string_view(bytes).substr(7))) {
      append_anchor(out, "", middle, middle.substr(7, middle.size()), false);
    } else if (bytes.find('@') != std::string::npos && !bytes.starts_with("www.") &&
               bytes[0] != '@' && bytes.find(':') == std::string::npos && is_email(bytes)) {
      append_anchor(out, "mailto:", middle, middle, false);
    } else {
      append_other(out, middle);
    }
  }

  void append_other(MarkedString& out, const MarkedString& middle) {
    for (const Value& scheme : schemes_) {
      if (middle.bytes() != scheme.bytes() && middle.bytes().starts_with(scheme.bytes())) {
        append_anchor(out, "", middle, middle, true);
        return;
      }
    }
    out.append(middle);
  }

  Runtime& runtime_;
  std::optional<std::size_t> limit_;
  std::string attributes_;
  List schemes_;
};

std::string attribute(Runtime& runtime, std::string_view name, const MarkedString& value) {
  return value.empty()
             ? ""
             : " " + std::string(name) + "=\"" + escape_text(runtime, value).bytes() + "\"";
}

MarkedString rel_of(Runtime& runtime, const Bound& args) {
  std::set<std::string> words = {"noopener"};
  if (args.given(3)) {
    for (const MarkedString& word : split_words(runtime, require_text(args[3], "rel"))) {
      words.insert(word.bytes());
    }
  }
  if (args.has(1) && truthy(runtime, args[1])) {
    words.insert("nofollow");
  }
  std::string joined;
  for (const std::string& word : words) {
    joined += (joined.empty() ? "" : " ") + word;
  }
  return {joined, Origin::Template};
}

bool is_scheme(std::string_view text) {
  for (int i = 0; i < 2 && text.ends_with('/'); ++i) {
    text.remove_suffix(1);
  }
  return text.ends_with(':') && all_of(text.substr(0, text.size() - 1), 2, kAny, [](char32_t c) {
           return unicode::is_word(c) || c == U'.' || c == U'+' || c == U'-';
         });
}

List scheme_list(Runtime& runtime, const Value& schemes) {
  List list = to_list(runtime, schemes);
  for (const Value& scheme : list) {
    if (!is_scheme(require_text(scheme, "scheme").bytes())) {
      raise(FaultKind::Runtime, quote(scheme.bytes()) + " is not a valid URI scheme prefix.");
    }
  }
  return list;
}

}  // namespace

Value urlize(Runtime& runtime, const Value& input, const CallArgs& call) {
  const Bound args(call,
                   {"do_urlize", {"trim_url_limit", "nofollow", "target", "rel", "extra_schemes"}});
  const Value escaped = smol::jinja::escape(runtime, input);
  const MarkedString& text = escaped.text();
  std::string attributes = attribute(runtime, "rel", rel_of(runtime, args));
  attributes += args.given(2) ? attribute(runtime, "target", require_text(args[2], "target")) : "";
  std::optional<std::size_t> limit;
  if (args.given(0)) {
    limit = static_cast<std::size_t>(std::max<std::int64_t>(to_index(args[0]), 0));
  }
  Linker linker(runtime, limit, attributes, args.given(4) ? scheme_list(runtime, args[4]) : List{});
  MarkedString out;
  const auto is_space = [](char32_t c) { return unicode::has(c, unicode::Property::Space); };
  const std::string_view bytes = text.bytes();
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t word = at + strip_range(bytes.substr(at), Side::Left, [&](char32_t c) {
                                    return !is_space(c);
                                  }).begin;
    if (word > at) {
      linker.append_word(out, text.substr(at, word));
    }
    const std::size_t next = word + strip_range(bytes.substr(word), Side::Left, is_space).begin;
    out.append(text, word, next);
    at = next;
  }
  return runtime.text(std::move(out), runtime.autoescape);
}

}  // namespace smol::jinja::filters
