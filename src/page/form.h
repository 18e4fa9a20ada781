// The fields of a page request: its query, then its body (urlencoded, multipart or JSON).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/http_message.h"

namespace smol::page {

class Form {
 public:
  // Throws Error{BadInput}: an escape or a part that is broken, text that is no UTF-8, too many
  // fields.
  explicit Form(const server::HttpRequest& request);

  bool has(std::string_view name) const { return find(name) != nullptr; }

  // The last of that name; "" if there is none.
  const std::string& text(std::string_view name) const;
  // All of that name, in order.
  std::vector<std::string> all(std::string_view name) const;
  // The file of that name in a multipart body, or else the field; it lies in the request.
  std::optional<std::string_view> file(std::string_view name) const;
  // "true", "on" and "1" are true; "false", "off", "0" and "" are false, and so is what is absent.
  // Throws Error{BadInput} for other text.
  bool flag(std::string_view name) const;
  // A whole number above 0, as ids are. Throws Error{NotFound} for other text.
  std::int64_t id(std::string_view name) const;
  // Nothing where it is absent or "". Throws Error{BadInput}: no number.
  std::optional<double> number(std::string_view name) const;

 private:
  const std::string* find(std::string_view name) const;
  void refuse_more_fields() const;
  void add(std::string name, std::string value);
  void read_pairs(std::string_view text);
  void read_parts(std::string_view body, std::string_view boundary);
  void read_json(std::string_view body);

  std::vector<std::pair<std::string, std::string>> fields_;
  std::vector<std::pair<std::string, std::string_view>> files_;
};

// The value of a cookie that the request carries; "" if it does not.
std::string cookie_of(const server::HttpRequest& request, std::string_view name);

}  // namespace smol::page
