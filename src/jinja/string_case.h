// Case mappings and character tests of str.
#pragma once

#include "jinja/runtime.h"
#include "jinja/value.h"

namespace smol::jinja {

MarkedString upper_text(Runtime& runtime, const MarkedString& text);
MarkedString lower_text(Runtime& runtime, const MarkedString& text);
MarkedString capitalize_text(Runtime& runtime, const MarkedString& text);
bool is_lower_text(std::string_view text);
bool is_upper_text(std::string_view text);

// Methods of str.
Value str_upper(Runtime& runtime, const Value& self, const CallArgs& args);
Value str_lower(Runtime& runtime, const Value& self, const CallArgs& args);
Value str_capitalize(Runtime& runtime, const Value& self, const CallArgs& args);
Value str_title(Runtime& runtime, const Value& self, const CallArgs& args);
Value str_swapcase(Runtime& runtime, const Value& self, const CallArgs& args);
Value str_casefold(Runtime& runtime, const Value& self, const CallArgs& args);
Value str_isalnum(Runtime& runtime, const Value& self, const CallArgs& args);
Value str_isalpha(Runtime& runtime, const Value& self, const CallArgs& args);
Value str_isascii(Runtime& runtime, const Value& self, const CallArgs& args);
Value str_isdecimal(Runtime& runtime, const Value& self, const CallArgs& args);
Value str_isdigit(Runtime& runtime, const Value& self, const CallArgs& args);
Value str_isidentifier(Runtime& runtime, const Value& self, const CallArgs& args);
Value str_islower(Runtime& runtime, const Value& self, const CallArgs& args);
Value str_isnumeric(Runtime& runtime, const Value& self, const CallArgs& args);
Value str_isprintable(Runtime& runtime, const Value& self, const CallArgs& args);
Value str_isspace(Runtime& runtime, const Value& self, const CallArgs& args);
Value str_istitle(Runtime& runtime, const Value& self, const CallArgs& args);
Value str_isupper(Runtime& runtime, const Value& self, const CallArgs& args);

}  // namespace smol::jinja
