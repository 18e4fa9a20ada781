#include "base/cpu_info.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <sched.h>
#include <set>
#include <sstream>
#include <string_view>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include "base/cgroup.h"

namespace smol {

namespace {

namespace fs = std::filesystem;

// x86 first, then Arm, by the names of proc/cpuinfo.
constexpr std::array<std::string_view, 19> kFeatures = {
    "sse4_2",   "avx",      "f16c",     "fma",         "avx2",        "avx_vnni", "avx512f",
    "avx512bw", "avx512dq", "avx512vl", "avx512_vnni", "avx512_bf16", "amx_int8", "asimd",
    "asimdhp",  "asimddp",  "i8mm",     "bf16",        "sve"};

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  const std::size_t end = text.find_last_not_of(" \t");
  return begin == std::string::npos ? std::string() : text.substr(begin, end - begin + 1);
}

// The value of the first line "key : value" of proc/cpuinfo; empty if there is none.
std::string cpuinfo_value(const fs::path& root, std::string_view key) {
  std::ifstream in(root / "proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    const std::size_t colon = line.find(':');
    if (colon != std::string::npos && trimmed(line.substr(0, colon)) == key) {
      return trimmed(line.substr(colon + 1));
    }
  }
  return {};
}

std::vector<std::string> known_features(const fs::path& root) {
  std::string flags = cpuinfo_value(root, "flags");
  if (flags.empty()) {
    flags = cpuinfo_value(root, "Features");
  }
  std::istringstream in(flags);
  std::set<std::string> present;
  for (std::string flag; in >> flag;) {
    present.insert(flag);
  }
  std::vector<std::string> known;
  for (const std::string_view feature : kFeatures) {
    if (present.count(std::string(feature)) != 0) {
      known.emplace_back(feature);
    }
  }
  return known;
}

// A line "Key:   value kB" of proc/meminfo, in bytes.
std::uint64_t meminfo_bytes(const fs::path& root, std::string_view key) {
  constexpr std::uint64_t kKiB = 1024;
  std::ifstream in(root / "proc/meminfo");
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string name;
    std::uint64_t value = 0;
    if (words >> name >> value && name == std::string(key) + ":") {
      return value * kKiB;
    }
  }
  return 0;
}

// The word in brackets: "always [madvise] never".
std::string huge_page_setting(const fs::path& root) {
  std::ifstream in(root / "sys/kernel/mm/transparent_hugepage/enabled");
  std::string line;
  std::getline(in, line);
  const std::size_t begin = line.find('[');
  const std::size_t end = line.find(']');
  if (begin == std::string::npos || end == std::string::npos || end < begin) {
    return "unknown";
  }
  return line.substr(begin + 1, end - begin - 1);
}

std::string read_word(const fs::path& file) {
  std::ifstream in(file);
  std::string word;
  in >> word;
  return word;
}

// What `ulimit -v` leaves to this process.
std::optional<std::uint64_t> address_space_left(const fs::path& root) {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return std::nullopt;
  }
  std::uint64_t used_pages = 0;
  std::ifstream(root / "proc/self/statm") >> used_pages;
  const std::uint64_t used = used_pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return limit.rlim_cur > used ? limit.rlim_cur - used : 0;
}

}  // namespace

std::vector<std::size_t> allowed_cpus() {
  std::vector<std::size_t> cpus;
  // A set larger than cpu_set_t fails with EINVAL; such machines get every processor.
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) {
    for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &set)) {
        cpus.push_back(cpu);
      }
    }
  }
  if (cpus.empty()) {
    const std::size_t all = std::max(1U, std::thread::hardware_concurrency());
    for (std::size_t cpu = 0; cpu < all; ++cpu) {
      cpus.push_back(cpu);
    }
  }
  return cpus;
}

std::size_t count_physical_cores(const std::vector<std::size_t>& cpus, const fs::path& root) {
  std::set<std::pair<std::string, std::string>> cores;
  std::size_t untold = 0;
  for (const std::size_t cpu : cpus) {
    const fs::path topology =
        root / "sys/devices/system/cpu" / ("cpu" + std::to_string(cpu)) / "topology";
    std::string core = read_word(topology / "core_id");
    if (core.empty()) {
      ++untold;
    } else {
      cores.emplace(read_word(topology / "physical_package_id"), std::move(core));
    }
  }
  return std::max<std::size_t>(1, cores.size() + untold);
}

std::uint64_t available_memory_bytes(const fs::path& root) {
  const std::uint64_t machine = meminfo_bytes(root, "MemAvailable");
  const std::uint64_t left = std::min(cgroup_memory_left(root).value_or(machine),
                                      address_space_left(root).value_or(machine));
  return std::min(machine, left);
}

CpuInfo query_cpu_info(const fs::path& root) {
  const std::vector<std::size_t> cpus = allowed_cpus();
  CpuInfo info;
  info.model_name = cpuinfo_value(root, "model name");
  if (info.model_name.empty()) {
    info.model_name = "unknown";
  }
  info.features = known_features(root);
  info.allowed_cpus = cpus.size();
  info.physical_cores = count_physical_cores(cpus, root);
  info.cpu_quota = cgroup_cpu_quota(root);
  info.huge_pages = huge_page_setting(root);
  info.memory_total_bytes = meminfo_bytes(root, "MemTotal");
  info.memory_available_bytes = available_memory_bytes(root);
  return info;
}

}  // namespace smol
