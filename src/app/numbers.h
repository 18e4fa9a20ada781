// Numbers as a person writes them in a flag, a variable or a /command: proven to be in range when
// read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace smol::app {

// Both ends are allowed.
template <class T>
struct Bounds {
  T least;
  T most;
};

// `what` is the name of the value in messages. Throws Error{BadInput}: "--top-p: expected a number
// from 0 to 1, found \"nan\"".
double parse_number(std::string_view what, std::string_view text, Bounds<double> bounds);
std::uint64_t parse_count(std::string_view what, std::string_view text,
                          Bounds<std::uint64_t> bounds);
std::int64_t parse_integer(std::string_view what, std::string_view text,
                           Bounds<std::int64_t> bounds);

// "1,2, 3" -> its parts without the spaces around them; always at least one.
std::vector<std::string> comma_parts(std::string_view text);
// "1,2, 4": at least one.
std::vector<std::size_t> parse_counts(std::string_view what, std::string_view text,
                                      Bounds<std::uint64_t> bounds);

// "1.91 GB", "7.8 MB", "512 bytes": powers of 1000.
std::string bytes_text(std::uint64_t bytes);

// `text` in double quotes, control characters escaped, cut after 80 bytes: how messages show a bad
// value.
std::string in_quotes(std::string_view text);

}  // namespace smol::app
