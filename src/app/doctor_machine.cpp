#include <fmt/format.h>

#include "app/doctor_checks.h"
#include "base/cpu_info.h"
#include "base/error.h"
#include "base/thread_pool.h"
#include "kernels/kernel_table.h"

namespace smol::app {
namespace {

constexpr double kGib = 1024.0 * 1024.0 * 1024.0;

void check_isa(const CpuInfo& cpu, Findings& findings) {
  try {
    const std::string isa(kernels::active_kernels().isa);
    if (isa == "scalar") {
      findings.note("instruction set",
                    fmt::format("scalar on {}: answers are slow", cpu.model_name),
                    "use a processor with AVX2 (x86) or NEON (ARM)");
    } else {
      findings.good("instruction set", fmt::format("{} on {}", isa, cpu.model_name));
    }
  } catch (const Error& error) {
    findings.fault("instruction set", error.what(), "unset SMOL_ISA, or name one that runs here");
  }
}

void check_cores(const CpuInfo& cpu, Findings& findings) {
  findings.good("cores", fmt::format("{} threads: {} physical cores among {} allowed processors",
                                     default_thread_count(), cpu.physical_cores, cpu.allowed_cpus));
  if (cpu.cpu_quota && *cpu.cpu_quota < static_cast<double>(cpu.physical_cores)) {
    findings.note("cgroup quota",
                  fmt::format("{:.1f} processors' time for {} cores: the rest stays unused",
                              *cpu.cpu_quota, cpu.physical_cores),
                  "raise the container's CPU limit");
  } else {
    findings.good("cgroup quota", "does not limit the cores");
  }
}

void check_huge_pages(const CpuInfo& cpu, Findings& findings) {
  if (cpu.huge_pages == "always" || cpu.huge_pages == "madvise") {
    findings.good("huge pages", cpu.huge_pages);
  } else {
    findings.note("huge pages", fmt::format("{}: memory is read more slowly", cpu.huge_pages),
                  "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled");
  }
}

void check_memory(const CpuInfo& cpu, Findings& findings) {
  constexpr double kWanted = 2.5;  // GiB: SmolLM3-3B in Q4_K_M with a context of 4,096
  const double available = static_cast<double>(cpu.memory_available_bytes) / kGib;
  const double total = static_cast<double>(cpu.memory_total_bytes) / kGib;
  const std::string message = fmt::format("{:.1f} of {:.1f} GiB available", available, total);
  if (cpu.memory_available_bytes > 0 && available < kWanted) {
    findings.note("memory", message + fmt::format(", SmolLM3-3B wants {:.1f}", kWanted),
                  "close other programs, or use a smaller model");
  } else {
    findings.good("memory", message);
  }
}

}  // namespace

std::vector<Finding> examine_machine() {
  const CpuInfo cpu = query_cpu_info();
  Findings findings;
  check_isa(cpu, findings);
  check_cores(cpu, findings);
  check_huge_pages(cpu, findings);
  check_memory(cpu, findings);
  return findings.take();
}

}  // namespace smol::app
