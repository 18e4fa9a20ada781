#include "base/cgroup.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace smol {

namespace {

namespace fs = std::filesystem;

std::string first_line(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

// nullopt: no such file, or it does not begin with a number ("max", "-1").
std::optional<std::uint64_t> number_in(const fs::path& file) {
  std::istringstream in(first_line(file));
  std::int64_t value = -1;
  if (!(in >> value) || value < 0) {
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(value);
}

// A line "key value" of the file.
std::optional<std::uint64_t> field_in(const fs::path& file, std::string_view key) {
  std::ifstream in(file);
  std::string name;
  std::uint64_t value = 0;
  while (in >> name >> value) {
    if (name == key) {
      return value;
    }
  }
  return std::nullopt;
}

// Whether `names`, separated by commas, hold `wanted`. Version 2 has no names: "" holds "".
bool holds_name(const std::string& names, std::string_view wanted) {
  std::istringstream in(names);
  for (std::string name; std::getline(in, name, ',');) {
    if (name == wanted) {
      return true;
    }
  }
  return names.empty() && wanted.empty();
}

// The group of this process in the hierarchy of `controller` ("" is version 2), as
// proc/self/cgroup has it: "4:memory:/some/group", "0::/some/group". In a container the path may
// lie above what is mounted.
std::optional<std::string> group_of(const fs::path& root, std::string_view controller) {
  std::ifstream in(root / "proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {
    std::istringstream fields(line);
    std::string number;
    std::string names;
    std::string group;
    if (std::getline(fields, number, ':') && std::getline(fields, names, ':') &&
        std::getline(fields, group) && holds_name(names, controller)) {
      return group;
    }
  }
  return std::nullopt;
}

// The mount's own folder and every folder on the way down to the group: limits of all of them hold.
std::vector<fs::path> folders(const fs::path& mount, const std::string& group) {
  std::vector<fs::path> all{mount};
  fs::path folder = mount;
  for (const fs::path& part : fs::path(group).relative_path()) {
    folder /= part;
    all.push_back(folder);
  }
  return all;
}

std::vector<fs::path> folders_v2(const fs::path& root) {
  const std::optional<std::string> group = group_of(root, "");
  return group ? folders(root / "sys/fs/cgroup", *group) : std::vector<fs::path>{};
}

std::vector<fs::path> folders_v1(const fs::path& root, const std::string& controller) {
  const std::optional<std::string> group = group_of(root, controller);
  return group ? folders(root / "sys/fs/cgroup" / controller, *group) : std::vector<fs::path>{};
}

template <class Number>
void keep_smaller(std::optional<Number>& smallest, std::optional<Number> value) {
  if (value && (!smallest || *value < *smallest)) {
    smallest = value;
  }
}

// cpu.max holds "quota period" in microseconds, or "max period".
std::optional<double> quota_v2(const fs::path& folder) {
  std::istringstream in(first_line(folder / "cpu.max"));
  double quota = 0;
  double period = 0;
  if (!(in >> quota >> period) || quota <= 0 || period <= 0) {
    return std::nullopt;
  }
  return quota / period;
}

std::optional<double> quota_v1(const fs::path& folder) {
  const auto quota = number_in(folder / "cpu.cfs_quota_us");
  const auto period = number_in(folder / "cpu.cfs_period_us");
  if (!quota || !period || *quota == 0 || *period == 0) {
    return std::nullopt;
  }
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

std::optional<std::uint64_t> left_below(std::optional<std::uint64_t> limit,
                                        std::optional<std::uint64_t> used,
                                        std::optional<std::uint64_t> page_cache) {
  if (!limit || !used) {
    return std::nullopt;
  }
  const std::uint64_t held = *used - std::min(*used, page_cache.value_or(0));
  return *limit - std::min(*limit, held);
}

}  // namespace

std::optional<double> cgroup_cpu_quota(const fs::path& root) {
  std::optional<double> quota;
  for (const fs::path& folder : folders_v2(root)) {
    keep_smaller(quota, quota_v2(folder));
  }
  for (const fs::path& folder : folders_v1(root, "cpu")) {
    keep_smaller(quota, quota_v1(folder));
  }
  return quota;
}

std::optional<std::uint64_t> cgroup_memory_left(const fs::path& root) {
  std::optional<std::uint64_t> left;
  for (const fs::path& folder : folders_v2(root)) {
    keep_smaller(left,
                 left_below(number_in(folder / "memory.max"), number_in(folder / "memory.current"),
                            field_in(folder / "memory.stat", "file")));
  }
  for (const fs::path& folder : folders_v1(root, "memory")) {
    keep_smaller(left, left_below(number_in(folder / "memory.limit_in_bytes"),
                                  number_in(folder / "memory.usage_in_bytes"),
                                  field_in(folder / "memory.stat", "cache")));
  }
  return left;
}

}  // namespace smol
