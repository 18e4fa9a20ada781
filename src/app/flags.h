// Flags of a command: each has a default that --help shows and an environment variable SMOLBOT_*,
// and its value is proven while the command line is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/numbers.h"

namespace CLI {
class App;
}

namespace smol::app {

struct Flag {
  std::string names;  // "--top-p" or "-p,--prompt-tokens": the variable follows the last one
  std::string help;
  std::string shown_default;  // as --help shows it
  // The command, for a flag that has another meaning in other commands: its variable has this name
  // in it ("tokenize": SMOLBOT_TOKENIZE_IDS).
  std::string scope = {};
};

// "-p,--prompt-tokens" -> "SMOLBOT_PROMPT_TOKENS".
std::string environment_name(std::string_view flag_names);

std::string environment_name(const Flag& flag);

// Receives the flag's or variable's name and the text given.
using TakeText = std::function<void(const std::string& what, const std::string& text)>;

// The last one given counts. `value_name` stands in --help: "NUMBER".
void add_value(CLI::App& command, const Flag& flag, const std::string& value_name,
               const TakeText& take);
// Each one given counts; the variable gives one.
void add_list(CLI::App& command, const Flag& flag, const std::string& value_name,
              const TakeText& take);
// No value; the variable takes 1, true, on, yes or 0, false, off, no.
void add_switch(CLI::App& command, const Flag& flag, std::function<void(bool)> take);
// Two switches of which the last one given counts, and before the variables.
void add_opposites(CLI::App& command, const Flag& on, const Flag& off,
                   const std::function<void(bool)>& take);
// An argument without a flag.
void add_positional(CLI::App& command, const std::string& name, const std::string& help,
                    bool required, TakeText take);

// In the following the target must outlive the parsing; it may be an optional of the type.
template <class Target>
void add_number(CLI::App& command, const Flag& flag, Bounds<double> bounds, Target& target) {
  add_value(command, flag, "NUMBER", [&target, bounds](const auto& what, const auto& text) {
    target = parse_number(what, text, bounds);
  });
}

template <class Target>
void add_count(CLI::App& command, const Flag& flag, Bounds<std::uint64_t> bounds, Target& target) {
  add_value(command, flag, "N", [&target, bounds](const auto& what, const auto& text) {
    target = parse_count(what, text, bounds);
  });
}

template <class Target>
void add_text(CLI::App& command, const Flag& flag, Target& target) {
  add_value(command, flag, "TEXT", [&target](const auto&, const auto& text) { target = text; });
}

// A file that need not exist.
template <class Target>
void add_path(CLI::App& command, const Flag& flag, Target& target) {
  add_value(command, flag, "FILE",
            [&target](const auto&, const auto& text) { target = std::filesystem::path(text); });
}

// Throws Error{NotFound}: "--model: x.gguf: expected a file, found none", or "found no regular
// file".
std::filesystem::path existing_file(std::string_view what, const std::string& text);

template <class Target>
void add_input_file(CLI::App& command, const Flag& flag, Target& target) {
  add_value(command, flag, "FILE",
            [&target](const auto& what, const auto& text) { target = existing_file(what, text); });
}

// The same for a text, which may also come from a pipe (text_input.h).
void add_text_file(CLI::App& command, const Flag& flag,
                   std::optional<std::filesystem::path>& target);

// An input file without a flag.
template <class Target>
void add_input_file(CLI::App& command, const std::string& name, const std::string& help,
                    bool required, Target& target) {
  add_positional(command, name, help, required, [&target](const auto& what, const auto& text) {
    target = existing_file(what, text);
  });
}

// `choices`: what may be given, with the value each stands for.
template <class Value>
struct Choice {
  std::string_view name;
  Value value;
};

// Throws Error{BadInput}: "--kv-type: expected one of f16, f32, found \"q8\"".
std::size_t index_of_choice(std::string_view what, std::string_view text,
                            const std::vector<std::string_view>& names);

template <class Value, class Target>
void add_choice(CLI::App& command, const Flag& flag, std::vector<Choice<Value>> choices,
                Target& target) {
  std::vector<std::string_view> names;
  std::string value_name;
  for (const Choice<Value>& choice : choices) {
    names.push_back(choice.name);
    value_name += (value_name.empty() ? "" : "|") + std::string(choice.name);
  }
  add_value(command, flag, value_name,
            [&target, names, choices = std::move(choices)](const auto& what, const auto& text) {
              target = choices[index_of_choice(what, text, names)].value;
            });
}

}  // namespace smol::app
