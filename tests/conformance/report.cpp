#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>

#include "base/error.h"
#include "conformance/conformance.h"

namespace smol::conformance {

void Report::skip(std::string_view id, std::string_view why) {
  ++skipped_;
  std::printf("skipped %.*s: %.*s\n", static_cast<int>(id.size()), id.data(),
              static_cast<int>(why.size()), why.data());
}

void Report::fail(std::string_view id, std::string_view expected, std::string_view got) {
  ++failed_;
  std::printf("FAILED %.*s\n  expected %.*s\n  got      %.*s\n", static_cast<int>(id.size()),
              id.data(), static_cast<int>(expected.size()), expected.data(),
              static_cast<int>(got.size()), got.data());
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    throw Error(ErrorCode::NotFound, path.string() + ": cannot be read");
  }
  return {std::istreambuf_iterator<char>(in), {}};
}

void for_each_record(const std::filesystem::path& file, Report& report,
                     const std::function<void(const Json&, const std::string&)>& one) {
  std::ifstream in(file);
  if (!in) {
    throw Error(ErrorCode::NotFound, file.string() + ": cannot be read");
  }
  std::string line;
  for (std::size_t number = 1; std::getline(in, line); ++number) {
    if (line.empty()) {
      continue;
    }
    std::string id = file.filename().string() + ":" + std::to_string(number);
    try {
      const Json record = parse_json(line, id);
      if (const auto found = record.find("id"); found != record.end() && found->is_string()) {
        id = found->get<std::string>();
      }
      one(record, id);
    } catch (const std::exception& error) {
      report.fail(id, "no exception", error.what());
    }
  }
}

void require_option(const std::filesystem::path& value, std::string_view flag) {
  if (value.empty()) {
    throw Error(ErrorCode::BadInput, std::string(flag) + " is needed for this kind");
  }
}

}  // namespace smol::conformance
