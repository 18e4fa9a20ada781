#include "app/flags.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <system_error>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/text_input.h"
#include "base/error.h"

namespace smol::app {

namespace {

std::string last_name(std::string_view flag_names) {
  const std::size_t comma = flag_names.rfind(',');
  return std::string(comma == std::string_view::npos ? flag_names : flag_names.substr(comma + 1));
}

// What gave a value: the flag, or the variable where that holds just this text.
std::string source_of(const Flag& flag, const std::string& text) {
  const std::string variable = environment_name(flag);
  const char* held = std::getenv(variable.c_str());
  return held != nullptr && held == text ? variable : last_name(flag.names);
}

// What --help says of a flag: its meaning, default and variable.
std::string description(const Flag& flag) {
  return fmt::format("{} (default: {}; {})", flag.help, flag.shown_default, environment_name(flag));
}

CLI::Option* add(CLI::App& command, const Flag& flag, const std::string& value_name,
                 const TakeText& take) {
  CLI::Option* option = command.add_option(
      flag.names,
      [flag, take](const CLI::results_t& values) {
        for (const std::string& value : values) {
          take(source_of(flag, value), value);
        }
        return true;
      },
      description(flag));
  option->envname(environment_name(flag))->option_text(value_name)->expected(1);
  return option;
}

bool switch_value(const std::string& what, const std::string& text) {
  constexpr std::array<std::string_view, 4> kOn{"true", "1", "on", "yes"};
  constexpr std::array<std::string_view, 4> kOff{"false", "0", "off", "no"};
  for (std::size_t i = 0; i < kOn.size(); ++i) {
    if (text == kOn[i] || text == kOff[i]) {
      return text == kOn[i];
    }
  }
  throw Error{ErrorCode::BadInput,
              fmt::format("{}: expected 1 or 0, found {}", what, in_quotes(text))};
}

CLI::Option* add_valueless(CLI::App& command, const Flag& flag) {
  const std::string meaning = description(flag);  // add_flag() would fill a temporary
  CLI::Option* option = command.add_flag(flag.names, meaning);
  option->envname(environment_name(flag))
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->option_text(" ");
  return option;
}

// Whether `option` was given after `opposite`, or neither was given but by a variable.
bool counts(const CLI::App& command, const CLI::Option* option, const CLI::Option* opposite) {
  const std::vector<CLI::Option*>& given = command.parse_order();
  const auto last = std::find_if(given.rbegin(), given.rend(), [&](const CLI::Option* candidate) {
    return candidate == option || candidate == opposite;
  });
  return last == given.rend() || *last == option;
}

}  // namespace

std::string environment_name(const Flag& flag) {
  std::string name = environment_name(flag.names);
  if (flag.scope.empty()) {
    return name;
  }
  constexpr std::string_view kProgram = "SMOLBOT";
  return environment_name(flag.scope) + name.substr(kProgram.size());
}

std::string environment_name(std::string_view flag_names) {
  std::string name = "SMOLBOT";
  bool starts_word = true;
  for (const char c : last_name(flag_names)) {
    if (c == '-') {
      starts_word = true;
      continue;
    }
    if (starts_word) {
      name += '_';
      starts_word = false;
    }
    name += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return name;
}

void add_value(CLI::App& command, const Flag& flag, const std::string& value_name,
               const TakeText& take) {
  add(command, flag, value_name, take)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

void add_list(CLI::App& command, const Flag& flag, const std::string& value_name,
              const TakeText& take) {
  add(command, flag, value_name, take)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void add_switch(CLI::App& command, const Flag& flag, std::function<void(bool)> take) {
  add_valueless(command, flag)->each([flag, take = std::move(take)](const std::string& text) {
    take(switch_value(source_of(flag, text), text));
  });
}

void add_opposites(CLI::App& command, const Flag& on, const Flag& off,
                   const std::function<void(bool)>& take) {
  CLI::Option* first = add_valueless(command, on);
  CLI::Option* second = add_valueless(command, off);
  first->each([&command, first, second, on, take](const std::string& text) {
    if (counts(command, first, second)) {
      take(switch_value(source_of(on, text), text));
    }
  });
  second->each([&command, first, second, off, take](const std::string& text) {
    if (counts(command, second, first)) {
      take(!switch_value(source_of(off, text), text));
    }
  });
}

void add_positional(CLI::App& command, const std::string& name, const std::string& help,
                    bool required, TakeText take) {
  CLI::Option* option = command.add_option(
      name,
      [name, take = std::move(take)](const CLI::results_t& values) {
        take(name, values.back());
        return true;
      },
      help);
  option->type_name("")->expected(1)->required(required);
}

void add_text_file(CLI::App& command, const Flag& flag,
                   std::optional<std::filesystem::path>& target) {
  add_value(command, flag, "FILE",
            [&target](const auto& what, const auto& text) { target = existing_text(what, text); });
}

std::filesystem::path existing_file(std::string_view what, const std::string& text) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(text, error);
  if (std::filesystem::is_regular_file(status)) {
    return text;
  }
  const bool exists = std::filesystem::exists(status);
  throw Error{ErrorCode::NotFound, fmt::format("{}: {}: expected a file, found {}", what, text,
                                               exists ? "no regular file" : "none")};
}

std::size_t index_of_choice(std::string_view what, std::string_view text,
                            const std::vector<std::string_view>& names) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == text) {
      return i;
    }
  }
  throw Error{ErrorCode::BadInput, fmt::format("{}: expected one of {}, found {}", what,
                                               fmt::join(names, ", "), in_quotes(text))};
}

}  // namespace smol::app
