// `smolbot serve`: the API over HTTP.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <sys/resource.h>

#include <fmt/format.h>

#include "app/assistant_factory.h"
#include "app/commands.h"
#include "app/console.h"
#include "app/interrupt.h"
#include "app/model_choice.h"
#include "app/program.h"
#include "app/serve_options.h"
#include "server/metrics.h"
#include "server/openai_api.h"
#include "server/request_log.h"
#include "server/router.h"
#include "server/server.h"

namespace smol::app {

namespace {

// Together with the end of the engine less than 5 s.
constexpr std::chrono::milliseconds kGrace{3000}, kLastWords{1000};

// Each connection is an open file, and so are the model, the log and the like.
void raise_file_limit(std::size_t connections) {
  constexpr rlim_t kOthers = 128;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return;
  }
  const rlim_t wanted = connections + kOthers;
  const rlim_t most = limit.rlim_max == RLIM_INFINITY ? wanted : limit.rlim_max;
  limit.rlim_cur = std::max(limit.rlim_cur, std::min(wanted, most));
  static_cast<void>(::setrlimit(RLIMIT_NOFILE, &limit));
  if (limit.rlim_cur < wanted) {
    note(fmt::format("smolbot: --max-connections: {} need {} open files, the system allows {}",
                     connections, wanted, limit.rlim_cur));
  }
}

std::string url_of(const server::ServerOptions& options, std::uint16_t port) {
  const bool is_v6 = options.host.find(':') != std::string::npos;
  return fmt::format("http://{}{}{}:{}", is_v6 ? "[" : "", options.host, is_v6 ? "]" : "", port);
}

server::RequestLog::Write log_writer(const ServeOptions& options) {
  if (!options.log_requests) {
    return nullptr;
  }
  return [](std::string_view line) { note(line); };
}

int run(const ServeOptions& options) {
  server::Router router(access_rules(options));
  raise_file_limit(options.server.limits.connections);
  const ModelChoice choice = choose_model_and_tell(options.model.model);
  std::unique_ptr<chat::Assistant> assistant;
  server::Metrics metrics;
  server::RequestLog log(log_writer(options), options.log_prompts);
  server::OpenAiApi api(metrics);
  api.add_routes(router);
  // Listens before it loads: a port in use ends it at once, and /health says that it loads.
  server::Server server(options.server, router, metrics, log);
  assistant = make_assistant(choice.path, {options.model, options.queue});
  // From here on there is something to end well.
  const InterruptGuard guard({SIGINT, SIGTERM});
  api.set_assistant(*assistant);
  note(fmt::format("smolbot: {} answers at {}, context {} tokens. Ctrl-C ends it.",
                   assistant->model().id, url_of(options.server, server.port()),
                   assistant->model().context));
  guard.wait();
  server.stop(kGrace, kLastWords);
  return kSuccess;
}

}  // namespace

void add_serve_command(CLI::App& program, Plan& plan) {
  auto state = std::make_shared<ServeOptions>();
  CLI::App& command =
      add_command(program, "serve", "the API over HTTP", plan, [state] { return run(*state); });
  add_serve_options(command, *state);
}

}  // namespace smol::app
