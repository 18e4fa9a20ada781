// The one exception type: an operation that cannot be done (a file, a template, a request, a
// device). The message names the thing, what was expected and what was found.
#pragma once

#include <stdexcept>
#include <string>

namespace smol {

enum class ErrorCode { BadInput, NotFound, Unsupported, Exhausted, Io, Device };

class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}

  ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

}  // namespace smol
