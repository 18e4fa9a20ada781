// The bounds of the sandbox, counted down while a template runs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "jinja/fault.h"

namespace smol::jinja {

struct Limits {
  std::uint64_t max_steps = 20'000'000;         // nodes run, elements compared
  std::uint64_t max_bytes = 512ULL << 20U;      // all strings, lists and dicts made, summed up
  std::size_t max_output_bytes = 64ULL << 20U;  // the rendered text
  std::size_t max_depth = 400;  // nested statements and expressions, macro calls included
};

// Throws Fault{Limit} where a bound is passed.
class Budget {
 public:
  Budget(std::uint64_t steps, std::uint64_t bytes) : steps_(steps), bytes_(bytes) {}

  void step(std::uint64_t count = 1) {
    if (count > steps_) {
      raise(FaultKind::Limit, "the template runs too long: its step limit is reached");
    }
    steps_ -= count;
  }

  void charge(std::uint64_t bytes) {
    if (bytes > bytes_) {
      raise(FaultKind::Limit, "the template needs too much memory: its limit is reached");
    }
    bytes_ -= bytes;
  }

  // count * size bytes, without overflow.
  void charge(std::uint64_t count, std::uint64_t size) {
    if (size != 0 && count > bytes_ / size) {
      raise(FaultKind::Limit, "the template needs too much memory: its limit is reached");
    }
    charge(count * size);
  }

 private:
  std::uint64_t steps_, bytes_;
};

}  // namespace smol::jinja
