// The words that stand for our enumerations in the database and in exports.
#pragma once

#include <optional>
#include <string_view>

#include "store/types.h"

namespace smol::store {

std::string_view name_of(TitleOrigin origin) noexcept;
std::string_view name_of(ToolState state) noexcept;
std::string_view name_of(Role role) noexcept;
std::string_view name_of(AnswerState state) noexcept;

// All names of one enumeration, for messages: "user, assistant, note".
template <class Enum>
std::string_view names_of() noexcept;

// The value of that name, if there is one.
template <class Enum>
std::optional<Enum> named(std::string_view name) noexcept;

}  // namespace smol::store
