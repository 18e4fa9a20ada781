// Standard output and standard error: what kind of thing they are, and writes that notice when
// nobody reads.
#pragma once

#include <string>
#include <string_view>

namespace smol::app {

// Thrown where the reader of standard output has gone (EPIPE): the program ends quietly, status 1.
struct OutputClosed {};

bool is_terminal(int descriptor) noexcept;
// Whether styled text may be written there: a terminal, NO_COLOR unset or empty (no-color.org),
// TERM not "dumb".
bool wants_colour(int descriptor) noexcept;

// Writes all of it at once, unbuffered. Throws OutputClosed, or Error{Io} for any other failure.
void print(std::string_view text);
// The same for text of a model or a user: safe_for_terminal() where it goes to a terminal.
void print_text(std::string_view text);
// A line on standard error; failures are ignored.
void note(std::string_view line);

// Faint text (SGR 2) where `colour` holds, else `text`.
std::string dimmed(std::string_view text, bool colour);
// What a model or a user wrote, made harmless for a terminal: control characters other than newline
// and tab become U+FFFD.
std::string safe_for_terminal(std::string_view text);

}  // namespace smol::app
