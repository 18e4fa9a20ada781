#include "model/config_keys.h"

#include <cmath>
#include <sstream>
#include <utility>

#include "base/error.h"

namespace smol::model {

namespace {

std::string number_text(double value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

}  // namespace

ConfigKeys::ConfigKeys(const gguf::File& file, std::string architecture)
    : file_(file), prefix_(std::move(architecture) + ".") {}

std::string ConfigKeys::label(std::string_view key) const {
  return std::string(file_.name()) + ": " + full(key);
}

void ConfigKeys::fail(std::string_view key, const std::string& expected,
                      const std::string& found) const {
  throw Error(ErrorCode::BadInput, label(key) + ": expected " + expected + ", found " + found);
}

bool ConfigKeys::has(std::string_view key) const noexcept {
  return file_.metadata().find(full(key)) != nullptr;
}

std::size_t ConfigKeys::count(std::string_view key, Range range) const {
  const std::string expected = std::to_string(range.least) + " to " + std::to_string(range.most);
  const std::optional<std::uint64_t> value = file_.metadata().unsigned_integer(full(key));
  if (!value) {
    fail(key, expected, "no such key");
  }
  if (*value < range.least || *value > range.most) {
    fail(key, expected, std::to_string(*value));
  }
  return static_cast<std::size_t>(*value);
}

std::size_t ConfigKeys::count_or(std::string_view key, Range range, std::size_t otherwise) const {
  return has(key) ? count(key, range) : otherwise;
}

double ConfigKeys::real(std::string_view key, double least, double most) const {
  const std::string expected = number_text(least) + " to " + number_text(most);
  const std::optional<double> value = file_.metadata().number(full(key));
  if (!value) {
    fail(key, expected, "no such key");
  }
  if (!(*value >= least && *value <= most)) {
    fail(key, expected, number_text(*value));
  }
  return *value;
}

double ConfigKeys::real_or(std::string_view key, double least, double most,
                           double otherwise) const {
  return has(key) ? real(key, least, most) : otherwise;
}

std::optional<std::string_view> ConfigKeys::text(std::string_view key) const {
  return file_.metadata().string(full(key));
}

}  // namespace smol::model
