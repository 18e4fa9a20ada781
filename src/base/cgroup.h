// Limits that control groups set on this process: version 2 and version 1 (Linux Documentation,
// admin-guide/cgroup-v2.rst and cgroup-v1/).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace smol {

// Processors' worth of time by the tightest group on the way to the root; nullopt: no limit.
std::optional<double> cgroup_cpu_quota(const std::filesystem::path& root);

// Bytes below the tightest memory limit, page cache counted as free; nullopt: no limit.
std::optional<std::uint64_t> cgroup_memory_left(const std::filesystem::path& root);

}  // namespace smol
