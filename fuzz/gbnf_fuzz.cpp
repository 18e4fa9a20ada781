// Any text is a GBNF grammar: it compiles, or is refused with line and column, within small bounds;
// a run over it never meets a dead end.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "grammar/grammar.h"
#include "grammar/pushdown.h"

namespace {

using smol::grammar::Cursors;
using smol::grammar::Pushdown;

// Takes the first byte from `first` on that fits.
void step(Pushdown& run, Cursors& here, unsigned first) {
  Cursors to;
  for (unsigned tried = 0; tried < 256; ++tried) {
    run.step(here, static_cast<std::uint8_t>(first + tried), to);
    if (!to.dead()) {
      std::swap(here, to);
      return;
    }
  }
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kMaxBytes = 2048;
  constexpr std::size_t kSteps = 100;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (size > kMaxBytes) {
    return 0;
  }
  try {
    Pushdown run(smol::grammar::compile_gbnf(text));
    Cursors here = run.start();
    for (std::size_t i = 0; i < kSteps && !here.list.empty(); ++i) {
      step(run, here, data[i % size]);
    }
  } catch (const smol::Error&) {
    return 0;
  }
  return 0;
}
