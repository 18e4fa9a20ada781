// Any text is a GBNF grammar: it compiles, or is refused with line and column, within small bounds;
// a run over it never meets a dead end.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "grammar/grammar.h"
#include "grammar/pushdown.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kMaxBytes = 2048;
  constexpr std::size_t kSteps = 100;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (size > kMaxBytes) {
    return 0;
  }
  try {
    smol::grammar::Pushdown run(smol::grammar::compile_gbnf(text));
    smol::grammar::Cursors from = run.start();
    smol::grammar::Cursors to;
    for (std::size_t i = 0; i < kSteps && !from.list.empty(); ++i) {
      unsigned tried = 0;
      do {
        if (tried == 256) {
          std::abort();
        }
        run.step(from, static_cast<std::uint8_t>(data[i % size] + tried++), to);
      } while (to.dead());
      std::swap(from, to);
    }
  } catch (const smol::Error&) {
    return 0;
  }
  return 0;
}
