// Any JSON is a schema: it compiles or is refused with a path, within small bounds, and whatever
// its grammar lets through byte by byte ends as JSON.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/json.h"
#include "grammar/grammar.h"
#include "grammar/pushdown.h"

namespace {

using smol::grammar::Cursors;
using smol::grammar::Pushdown;

constexpr int kSteps = 300;

// Walks to the grammar's end, led by the input, and returns the text; "" where it is not reached.
std::string walk(Pushdown& run, const std::uint8_t* data, std::size_t size) {
  Cursors from = run.start();
  Cursors to;
  std::string text;
  for (int i = 0; i < kSteps; ++i) {
    if (from.complete) {
      return text;
    }
    bool stepped = false;
    for (unsigned tried = 0; tried < 256 && !stepped; ++tried) {
      const std::uint8_t lead = size > 0 ? data[static_cast<std::size_t>(i) % size] : 0;
      const auto byte = static_cast<std::uint8_t>(lead + tried);
      run.step(from, byte, to);
      if (!to.dead()) {
        text += static_cast<char>(byte);
        std::swap(from, to);
        stepped = true;
      }
    }
    if (!stepped) {
      std::abort();  // a dead end: the grammar promised a way on
    }
  }
  return "";
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (size > 4096) {
    return 0;
  }
  smol::Json schema;
  try {
    schema = smol::parse_json(text, "schema");
  } catch (const smol::Error&) {
    return 0;
  }
  try {
    Pushdown run(smol::grammar::compile_json_schema(schema));
    const std::string written = walk(run, data, size);
    if (!written.empty() && !smol::Json::accept(written)) {
      std::abort();
    }
  } catch (const smol::Error& error) {
    if (error.what()[0] != '/' && error.code() != smol::ErrorCode::Exhausted) {
      std::abort();
    }
  }
  return 0;
}
