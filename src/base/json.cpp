#include "base/json.h"

#include <string>

#include "base/error.h"

template class nlohmann::basic_json<nlohmann::ordered_map>;

namespace smol {
namespace {

constexpr int kMaxDepth = 256;

}  // namespace

std::string json_error_text(const std::exception& error) {
  const std::string_view text = error.what();
  const std::size_t end = text.starts_with("[json.exception.") ? text.find("] ") : text.npos;
  return std::string(end == text.npos ? text : text.substr(end + 2));
}

Json parse_json(std::string_view text, std::string_view what) {
  const auto limit_depth = [&](int depth, Json::parse_event_t, Json&) {
    if (depth > kMaxDepth) {
      throw Error(ErrorCode::BadInput, std::string(what) + ": JSON nested deeper than " +
                                           std::to_string(kMaxDepth) + " levels");
    }
    return true;
  };
  try {
    return Json::parse(text.begin(), text.end(), limit_depth);
  } catch (const Json::exception& error) {
    throw Error(ErrorCode::BadInput, std::string(what) + ": " + json_error_text(error));
  }
}

}  // namespace smol
