// `smolbot doctor [FILE]`: checks the machine and a model file; every fault comes with its remedy.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace smol::app {

struct Finding {
  enum class Level : std::uint8_t {
    Good,   // checked and found right
    Note,   // worth knowing; changes nothing about the exit status
    Fault,  // something is wrong: the answers or the speed suffer
  };
  Level level;
  std::string check;    // "rope base", "end of turn", ...
  std::string message;  // what was expected and found
  std::string remedy;   // empty unless there is something to do
};

struct DoctorOptions {
  std::optional<std::filesystem::path> file;  // none: only the machine
};

std::vector<Finding> examine_machine();
// Never throws for what the file holds: a file that cannot be read is a finding.
std::vector<Finding> examine_model(const std::filesystem::path& file);

// Prints all findings; exit status 1 if one of them is a fault, else 0. Throws Error{NotFound} for
// a file that is not there.
int run_doctor(const DoctorOptions& options, std::ostream& out);

}  // namespace smol::app
