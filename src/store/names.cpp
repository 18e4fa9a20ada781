#include "store/names.h"

#include <array>
#include <cstddef>

namespace smol::store {
namespace {

// In the order of the enumerators.
template <class Enum>
struct Names;

template <>
struct Names<TitleOrigin> {
  static constexpr std::array<std::string_view, 3> kList{"first_line", "model", "person"};
  static constexpr std::string_view kAll = "first_line, model, person";
};

template <>
struct Names<ToolState> {
  static constexpr std::array<std::string_view, 5> kList{"asking", "running", "done", "denied",
                                                         "failed"};
  static constexpr std::string_view kAll = "asking, running, done, denied, failed";
};

template <>
struct Names<Role> {
  static constexpr std::array<std::string_view, 3> kList{"user", "assistant", "note"};
  static constexpr std::string_view kAll = "user, assistant, note";
};

template <>
struct Names<AnswerState> {
  static constexpr std::array<std::string_view, 8> kList{
      "running", "done", "stopped", "limit", "thinking_limit", "context", "interrupted", "error"};
  static constexpr std::string_view kAll =
      "running, done, stopped, limit, thinking_limit, context, interrupted, error";
};

template <class Enum>
std::string_view name_in_list(Enum value) noexcept {
  return Names<Enum>::kList[static_cast<std::size_t>(value)];
}

}  // namespace

std::string_view name_of(TitleOrigin origin) noexcept {
  return name_in_list(origin);
}

std::string_view name_of(ToolState state) noexcept {
  return name_in_list(state);
}

std::string_view name_of(Role role) noexcept {
  return name_in_list(role);
}

std::string_view name_of(AnswerState state) noexcept {
  return name_in_list(state);
}

template <class Enum>
std::string_view names_of() noexcept {
  return Names<Enum>::kAll;
}

template <class Enum>
std::optional<Enum> named(std::string_view name) noexcept {
  const auto& list = Names<Enum>::kList;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i] == name) {
      return static_cast<Enum>(i);
    }
  }
  return std::nullopt;
}

template std::string_view names_of<TitleOrigin>() noexcept;
template std::string_view names_of<ToolState>() noexcept;
template std::string_view names_of<Role>() noexcept;
template std::string_view names_of<AnswerState>() noexcept;
template std::optional<TitleOrigin> named(std::string_view) noexcept;
template std::optional<ToolState> named(std::string_view) noexcept;
template std::optional<Role> named(std::string_view) noexcept;
template std::optional<AnswerState> named(std::string_view) noexcept;

double tokens_per_second(const Figures& figures) noexcept {
  const auto ms = static_cast<double>(figures.time.count());
  return ms > 0 ? static_cast<double>(figures.tokens) * 1000.0 / ms : 0.0;
}

}  // namespace smol::store
