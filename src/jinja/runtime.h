// What every part of a running template shares: bounds, options, the place of the current node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <memory>
#include <optional>
#include <vector>

#include "jinja/budget.h"
#include "jinja/marked_string.h"
#include "jinja/object.h"
#include "jinja/value.h"

namespace smol::jinja {

// `now` for strftime_now (broken-down local time; weekday and day of the year are worked out from
// the date), and the bounds of the sandbox.
struct RenderOptions {
  std::optional<std::tm> now;  // nullopt: the local clock
  Limits limits;
};

class Runtime {
 public:
  Runtime(const RenderOptions& options, bool escapes)
      : autoescape(escapes),
        budget_(options.limits.max_steps, options.limits.max_bytes),
        options_(options) {}

  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  Budget& budget() noexcept { return budget_; }

  const RenderOptions& options() const noexcept { return options_; }

  std::size_t position() const noexcept { return position_; }

  void set_position(std::size_t offset) noexcept { position_ = offset; }

  // List whose size counts against the memory bound.
  Value text(MarkedString text, bool markup = false);

  Value text(std::string bytes, Origin origin) {
    return text(MarkedString(std::move(bytes), origin));
  }

  Value list(List items);
  Value tuple(List items);
  Value dict(Dict entries);

  // Objects that may hold values which hold them: emptied when rendering ends, so that no cycle
  // stays.
  void keep(std::shared_ptr<Object> object);
  // Uniform in [0, bound), for the filter `random`.
  std::size_t random(std::size_t bound) noexcept;

  bool autoescape;  // the current evaluation context's

  // Counts one more level of nested evaluation while it lives.
  class Level {
   public:
    explicit Level(Runtime& runtime);

    ~Level() { --runtime_.depth_; }

    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Runtime& runtime_;
  };

 private:
  Budget budget_;
  const RenderOptions& options_;
  std::size_t position_ = 0;
  std::size_t depth_ = 0;
  std::uint64_t random_state_ = 0x2545F4914F6CDD1DULL;
  std::vector<std::shared_ptr<Object>> kept_;
};

}  // namespace smol::jinja
