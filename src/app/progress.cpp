#include "app/progress.h"

#include <algorithm>
#include <cstddef>
#include <unistd.h>

#include <fmt/format.h>

#include "app/console.h"

namespace smol::app {

namespace {

constexpr std::chrono::milliseconds kFirstDraw{300};
constexpr std::chrono::milliseconds kBetweenDraws{100};

void write_to_stderr(const std::string& text) {
  static_cast<void>(!::write(STDERR_FILENO, text.data(), text.size()));
}

}  // namespace

std::string progress_line(const std::string& label, std::uint64_t done, std::uint64_t total,
                          std::chrono::duration<double> elapsed) {
  constexpr std::size_t kWidth = 30;
  const double share =
      total == 0 ? 0.0 : std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
  const auto filled = static_cast<std::size_t>(share * static_cast<double>(kWidth));
  std::string line = fmt::format("{} [{}{}] {:3.0f} %", label, std::string(filled, '#'),
                                 std::string(kWidth - filled, '.'), 100.0 * share);
  if (share > 0.0) {
    line += fmt::format(", {:.0f} s left", elapsed.count() * (1.0 - share) / share);
  }
  return line;
}

Progress::Progress(std::string label)
    : label_(std::move(label)),
      enabled_(is_terminal(STDERR_FILENO)),
      begin_(Clock::now()),
      last_drawn_(begin_ + kFirstDraw - kBetweenDraws) {}

Progress::~Progress() {
  clear();
}

void Progress::update(std::uint64_t done, std::uint64_t total) {
  const Clock::time_point now = Clock::now();
  if (!enabled_ || now - last_drawn_ < kBetweenDraws) {
    return;
  }
  last_drawn_ = now;
  drawn_ = true;
  write_to_stderr("\r" + progress_line(label_, done, total, now - begin_) + "\x1b[K");
}

void Progress::clear() {
  if (drawn_) {
    write_to_stderr("\r\x1b[K");
    drawn_ = false;
  }
}

}  // namespace smol::app
