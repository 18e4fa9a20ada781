// A progress bar on standard error, where that is a terminal; nothing anywhere else. Erases itself.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace smol::app {

// One thread. Draws only once the work has taken 0.3 s, and at most ten times a second.
class Progress {
 public:
  // "reading prompt": stands before the bar.
  explicit Progress(std::string label);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(std::uint64_t done, std::uint64_t total);
  // Takes the bar off the screen; an update draws it again.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  std::string label_;
  bool enabled_;
  bool drawn_ = false;
  Clock::time_point begin_;
  Clock::time_point last_drawn_;
};

// "reading prompt [#########.............]  41 %, 12 s left"; no time where `elapsed` tells too
// little.
std::string progress_line(const std::string& label, std::uint64_t done, std::uint64_t total,
                          std::chrono::duration<double> elapsed);

}  // namespace smol::app
