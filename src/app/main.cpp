// The program `smolbot`: everything begins in app/program.h.
#include <span>

#include "app/program.h"

int main(int argc, char** argv) {
  const std::span<char* const> all(argv, static_cast<std::size_t>(argc));
  const auto arguments = all.subspan(all.empty() ? 0 : 1);
  return smol::app::run_program({arguments.data(), arguments.size()});
}
