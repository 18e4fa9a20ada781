// The logits of some tokens of a step, one row each. A view of the decoder's memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

namespace smol::engine {

class LogitRows {
 public:
  // [n_rows, vocab_size]; maxima [n_rows, any number], or none.
  LogitRows(std::span<const float> values, std::span<const float> maxima, std::size_t vocab_size)
      : values_(values),
        maxima_(maxima),
        vocab_size_(vocab_size),
        n_maxima_(maxima.size() / std::max<std::size_t>(values.size() / vocab_size, 1)) {}

  LogitRows part(std::size_t first, std::size_t n_rows) const {
    LogitRows rows = *this;
    rows.values_ = values_.subspan(first * vocab_size_, n_rows * vocab_size_);
    rows.maxima_ = maxima_.subspan(first * n_maxima_, n_rows * n_maxima_);
    return rows;
  }

  std::span<const float> values() const noexcept { return values_; }

  std::span<const float> maxima() const noexcept { return maxima_; }

 private:
  std::span<const float> values_, maxima_;
  std::size_t vocab_size_, n_maxima_;  // of a row
};

}  // namespace smol::engine
