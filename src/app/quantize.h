// `smolbot quantize IN OUT --type T`: rewrites a GGUF file with quantized matrices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>

#include "gguf/quantize_mix.h"

namespace smol::app {

struct QuantizeOptions {
  std::filesystem::path input;
  std::filesystem::path output;
  std::string type;           // Q8_0, Q4_0, Q4_K, Q6_K or Q4_K_M, in any case
  std::size_t n_threads = 1;  // at least 1
  bool force = false;         // an earlier output file is replaced
};

// Throws Error{BadInput} naming `what`.
gguf::QuantizeType parse_quantize_type(std::string_view what, const std::string& name);

// Bytes of the input read so far, and in all. Called on the caller's thread.
using QuantizeProgress = std::function<void(std::uint64_t done_bytes, std::uint64_t total_bytes)>;

// Writes the report (sizes, tensors that got another type than asked for) to `out` and returns the
// exit status 0. Throws Error{BadInput} for an unknown type, equal files or an output that
// is there already, Error{Unsupported} for
// an input that is quantized already, Error{Io} when the output cannot be written; then no file
// stands under its name.
int run_quantize(const QuantizeOptions& options, std::ostream& out,
                 const QuantizeProgress& progress = {});

}  // namespace smol::app
