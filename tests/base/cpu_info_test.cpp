#include "base/cpu_info.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/cgroup.h"
#include "support/temp_folder.h"

namespace smol {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A machine made of files.
class Machine {
 public:
  void put(const std::string& file, const std::string& text) {
    const std::filesystem::path path = root() / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }

  const std::filesystem::path& root() const noexcept { return folder_.path(); }

 private:
  test::TempFolder folder_;
};

constexpr std::uint64_t kMiB = 1 << 20;

TEST(CpuInfo, NamesTheModelAndTheKnownFeatures) {
  Machine machine;
  machine.put("proc/cpuinfo",
              "processor\t: 0\nmodel name\t: Some CPU @ 3 GHz\n"
              "flags\t\t: fpu avx avx2 f16c fma avx512f strange\n");
  const CpuInfo info = query_cpu_info(machine.root());
  EXPECT_EQ(info.model_name, "Some CPU @ 3 GHz");
  EXPECT_THAT(info.features, ElementsAre("avx", "f16c", "fma", "avx2", "avx512f"));
}

TEST(CpuInfo, ReadsArmsFeatures) {
  Machine machine;
  machine.put("proc/cpuinfo", "processor\t: 0\nFeatures\t: fp asimd asimddp i8mm\n");
  const CpuInfo info = query_cpu_info(machine.root());
  EXPECT_EQ(info.model_name, "unknown");
  EXPECT_THAT(info.features, ElementsAre("asimd", "asimddp", "i8mm"));
}

TEST(CpuInfo, ReadsMemoryAndHugePages) {
  Machine machine;
  machine.put("proc/meminfo", "MemTotal:  2048 kB\nMemFree:  1 kB\nMemAvailable:   1024 kB\n");
  machine.put("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  const CpuInfo info = query_cpu_info(machine.root());
  EXPECT_EQ(info.memory_total_bytes, 2 * kMiB);
  EXPECT_EQ(info.memory_available_bytes, kMiB);
  EXPECT_EQ(info.huge_pages, "madvise");
}

TEST(CpuInfo, SurvivesAMachineThatTellsNothing) {
  const Machine machine;
  const CpuInfo info = query_cpu_info(machine.root());
  EXPECT_EQ(info.model_name, "unknown");
  EXPECT_THAT(info.features, IsEmpty());
  EXPECT_EQ(info.huge_pages, "unknown");
  EXPECT_EQ(info.cpu_quota, std::nullopt);
  EXPECT_EQ(info.memory_available_bytes, 0U);
  EXPECT_GE(info.physical_cores, 1U);
}

TEST(CpuInfo, CountsTheCoresOfSiblingsOnce) {
  Machine machine;
  const auto put_core = [&](const std::string& cpu, const std::string& package,
                            const std::string& core) {
    const std::string folder = "sys/devices/system/cpu/cpu" + cpu + "/topology/";
    machine.put(folder + "physical_package_id", package);
    machine.put(folder + "core_id", core);
  };
  put_core("0", "0", "0");
  put_core("1", "0", "1");
  put_core("2", "0", "0");
  put_core("3", "1", "0");
  EXPECT_EQ(count_physical_cores({0, 1, 2, 3}, machine.root()), 3U);
  EXPECT_EQ(count_physical_cores({0, 2}, machine.root()), 1U);
  EXPECT_EQ(count_physical_cores({0, 9}, machine.root()), 2U);
  EXPECT_EQ(count_physical_cores({}, machine.root()), 1U);
}

TEST(Cgroup, TakesTheTightestQuotaOfVersion2) {
  Machine machine;
  machine.put("proc/self/cgroup", "0::/outer/inner\n");
  machine.put("sys/fs/cgroup/cpu.max", "max 100000\n");
  machine.put("sys/fs/cgroup/outer/cpu.max", "150000 100000\n");
  machine.put("sys/fs/cgroup/outer/inner/cpu.max", "400000 100000\n");
  EXPECT_EQ(cgroup_cpu_quota(machine.root()), 1.5);
}

TEST(Cgroup, ReadsTheQuotaOfVersion1) {
  Machine machine;
  machine.put("proc/self/cgroup", "5:cpuacct,cpu:/job\n4:memory:/job\n");
  machine.put("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "300000\n");
  machine.put("sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cgroup_cpu_quota(machine.root()), 3.0);
  machine.put("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(cgroup_cpu_quota(machine.root()), std::nullopt);
}

TEST(Cgroup, FindsTheQuotaOfAContainerWhosePathIsNotMounted) {
  Machine machine;
  machine.put("proc/self/cgroup", "0::/host/docker/abc\n");
  machine.put("sys/fs/cgroup/cpu.max", "200000 100000\n");
  EXPECT_EQ(cgroup_cpu_quota(machine.root()), 2.0);
}

TEST(Cgroup, CountsPageCacheAsFreeMemory) {
  Machine machine;
  machine.put("proc/self/cgroup", "0::/job\n");
  machine.put("sys/fs/cgroup/job/memory.max", "1000000\n");
  machine.put("sys/fs/cgroup/job/memory.current", "900000\n");
  machine.put("sys/fs/cgroup/job/memory.stat", "anon 100000\nfile 700000\n");
  EXPECT_EQ(cgroup_memory_left(machine.root()), 800000U);
}

TEST(Cgroup, MemoryWithoutALimitIsUnlimited) {
  Machine machine;
  machine.put("proc/self/cgroup", "0::/job\n");
  machine.put("sys/fs/cgroup/job/memory.max", "max\n");
  machine.put("sys/fs/cgroup/job/memory.current", "900000\n");
  EXPECT_EQ(cgroup_memory_left(machine.root()), std::nullopt);
}

TEST(Cgroup, MemoryOfVersion1LowersWhatIsAvailable) {
  Machine machine;
  machine.put("proc/self/cgroup", "4:memory:/job\n");
  machine.put("proc/meminfo", "MemAvailable:   1024 kB\n");
  machine.put("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "5000\n");
  machine.put("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "2000\n");
  EXPECT_EQ(available_memory_bytes(machine.root()), 3000U);
}

TEST(AvailableMemory, EndsWhereTheLimitOfTheAddressSpaceIs) {
  constexpr rlim_t kLimit = rlim_t{1} << 46U;
  const auto page_bytes = static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
  Machine machine;
  machine.put("proc/meminfo", "MemAvailable:   1048576 kB\n");
  machine.put("proc/self/statm", std::to_string(kLimit / page_bytes - 3) + " 1 1 1 0 1 0\n");
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  const rlimit limited{kLimit, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_AS, &limited), 0);
  rlimit now{};
  if (getrlimit(RLIMIT_AS, &now) != 0 || now.rlim_cur != kLimit) {
    GTEST_SKIP() << "an emulator keeps this limit from its programs";
  }
  const std::uint64_t available = available_memory_bytes(machine.root());
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_EQ(available, 3 * page_bytes);
}

}  // namespace
}  // namespace smol
