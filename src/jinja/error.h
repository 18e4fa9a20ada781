// The one exception that leaves this room.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/error.h"

namespace smol::jinja {

// what() is the message, the place, the line of the template and a caret below the column.
class TemplateError : public Error {
 public:
  enum class Phase { Parse, Render };

  struct Place {
    std::size_t line;    // from 1
    std::size_t column;  // from 1, code points
    std::string text;    // the line
  };

  TemplateError(Phase phase, const std::string& message, Place place, bool raised_by_template);

  Phase phase() const noexcept { return phase_; }

  const std::string& message() const noexcept { return message_; }  // what Jinja2 says

  std::size_t line() const noexcept { return place_.line; }

  std::size_t column() const noexcept { return place_.column; }

  // raise_exception() was called.
  bool raised_by_template() const noexcept { return raised_by_template_; }

  // The place of the byte at `offset` (clamped to the end) of `source`.
  static Place locate(std::string_view source, std::size_t offset);

 private:
  Phase phase_;
  std::string message_;
  Place place_;
  bool raised_by_template_;
};

}  // namespace smol::jinja
