// What this process may use of the machine: processors, quota, memory, huge pages. Linux: /proc and
// /sys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace smol {

struct CpuInfo {
  std::string model_name;             // "unknown" where the system does not say
  std::vector<std::string> features;  // those that kernels are written for ("avx2", "asimddp" ...)
  std::size_t allowed_cpus = 1;       // logical processors that affinity allows
  std::size_t physical_cores = 1;     // distinct cores among them
  std::optional<double> cpu_quota;  // processors' worth of time by the tightest cgroup, if limited
  std::string huge_pages;           // "always", "madvise", "never"; "unknown" where not told
  std::uint64_t memory_total_bytes = 0;
  std::uint64_t memory_available_bytes = 0;  // free or reclaimable, within every limit
};

// `root` holds proc/ and sys/: "/" but in tests. What cannot be read keeps the value above; never
// throws for a missing or strange file.
CpuInfo query_cpu_info(const std::filesystem::path& root = "/");

// Numbers of the logical processors that this process may run on, at least one.
std::vector<std::size_t> allowed_cpus();

// Distinct cores among the logical processors `cpus`; at least 1.
std::size_t count_physical_cores(const std::vector<std::size_t>& cpus,
                                 const std::filesystem::path& root = "/");

// Bytes that can still be taken without swapping; 0 where the system does not tell.
std::uint64_t available_memory_bytes(const std::filesystem::path& root = "/");

}  // namespace smol
