// Functions that the model may call, built into the program.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "chat/message.h"

namespace smol::tools {

struct Tool {
  std::string name;
  chat::ToolSpec spec;  // as OpenAI describes it
  bool asks = false;    // a person allows each call first
  // From arguments to a result in words. Throws Error{BadInput} that says what was expected. Any
  // thread; returns at once.
  std::function<std::string(const Json& arguments)> run;
};

// current_time and calculator: they touch nothing. `now`: seconds since 1970.
std::vector<Tool> built_in_tools(std::function<std::int64_t()> now);

}  // namespace smol::tools
