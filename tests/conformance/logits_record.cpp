#include "conformance/logits_record.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "conformance/npy.h"

namespace smol::conformance {

namespace {

class Differences {
 public:
  void add(double got, double expected) {
    add_to_max(got, expected);
    const double difference = got - expected;
    sum_of_squares_ += difference * difference;
    ++count_;
  }

  // Counts only for the largest difference. Not a number counts as infinitely far.
  void add_to_max(double got, double expected) {
    const double distance = std::fabs(got - expected);
    max_ = std::isnan(distance) ? INFINITY : std::max(max_, distance);
  }

  double max() const noexcept { return max_; }

  double rms() const noexcept {
    const double mean = sum_of_squares_ / static_cast<double>(std::max<std::size_t>(count_, 1));
    return std::isnan(mean) ? INFINITY : std::sqrt(mean);
  }

 private:
  double max_ = 0.0, sum_of_squares_ = 0.0;
  std::size_t count_ = 0;
};

std::vector<bool> wanted_of(std::size_t n_ids, const std::vector<std::size_t>& positions) {
  std::vector<bool> wanted(n_ids, false);
  for (const std::size_t position : positions) {
    wanted.at(position) = true;
  }
  return wanted;
}

Differences compare_npy(ModelRunner& runner, const Json& record, const Options& options) {
  const auto ids = ids_of(record.at("ids"));
  const auto rows = record.at("rows").get<std::vector<std::size_t>>();
  const FloatMatrix expected = read_npy(record_root(options) / record.at("npy").get<std::string>());
  if (expected.n_rows != rows.size() || expected.n_cols != runner.vocab_size()) {
    throw Error(ErrorCode::BadInput, "npy: its shape does not fit the record");
  }
  std::map<std::size_t, std::size_t> row_of;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    row_of[rows[i]] = i;
  }
  Differences differences;
  runner.run(ids, wanted_of(ids.size(), rows), settings_of(options).chunk,
             [&](std::size_t position, std::span<const float> logits) {
               const float* row = &expected.values[row_of.at(position) * expected.n_cols];
               for (std::size_t i = 0; i < logits.size(); ++i) {
                 differences.add(static_cast<double>(logits[i]), static_cast<double>(row[i]));
               }
             });
  return differences;
}

// [[position, [ids], [logits], logsumexp], ...]
Differences compare_top(ModelRunner& runner, const Json& record, const Options& options) {
  const auto ids = ids_of(record.at("ids"));
  std::map<std::size_t, const Json*> entries;
  std::vector<std::size_t> positions;
  for (const Json& entry : record.at("top")) {
    positions.push_back(entry.at(0).get<std::size_t>());
    entries[positions.back()] = &entry;
  }
  Differences differences;
  runner.run(ids, wanted_of(ids.size(), positions), settings_of(options).chunk,
             [&](std::size_t position, std::span<const float> logits) {
               const Json& entry = *entries.at(position);
               const auto top_ids = ids_of(entry.at(1));
               const auto top_logits = entry.at(2).get<std::vector<double>>();
               for (std::size_t i = 0; i < top_ids.size(); ++i) {
                 const auto id = static_cast<std::size_t>(top_ids[i]);
                 differences.add(static_cast<double>(logits[id]), top_logits.at(i));
               }
               differences.add_to_max(log_sum_exp(logits), entry.at(3).get<double>());
             });
  return differences;
}

std::string bounds_text(const char* comparison, double max, double rms) {
  return "max " + std::string(comparison) + number_text(max) + ", rms " + comparison +
         number_text(rms);
}

}  // namespace

std::string LogitsDistance::expected() const {
  return bounds_text("<= ", allowed_max, allowed_rms) + " (" + kind + ")";
}

std::string LogitsDistance::got() const {
  return bounds_text("", max, rms);
}

LogitsDistance measure_logits(ModelRunner& runner, const Json& record, const Options& options) {
  LogitsDistance distance;
  distance.kind = runner.tolerance_kind();
  const Json& tolerance = record.at("tol").at(distance.kind);
  distance.allowed_max = tolerance.at(0).get<double>();
  distance.allowed_rms = tolerance.at(1).get<double>();
  const Differences differences = record.contains("top") ? compare_top(runner, record, options)
                                                         : compare_npy(runner, record, options);
  distance.max = differences.max();
  distance.rms = differences.rms();
  return distance;
}

}  // namespace smol::conformance
