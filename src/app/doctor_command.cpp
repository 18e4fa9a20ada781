#include <memory>
#include <sstream>

#include "app/commands.h"
#include "app/console.h"
#include "app/doctor.h"
#include "app/flags.h"

namespace smol::app {

void add_doctor_command(CLI::App& program, Plan& plan) {
  auto options = std::make_shared<DoctorOptions>();
  CLI::App& command =
      add_command(program, "doctor", "checks this machine and a model file, and says what to do",
                  plan, [options] {
                    std::ostringstream report;
                    const int status = run_doctor(*options, report);
                    print(report.str());
                    return status;
                  });
  add_input_file(command, "FILE", "a GGUF file; without it only the machine is checked", false,
                 options->file);
}

}  // namespace smol::app
