// `smolbot serve`: page and API over HTTP.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <vector>

#include <fmt/format.h>

#include "app/commands.h"
#include "app/console.h"
#include "app/data_folder.h"
#include "app/interrupt.h"
#include "app/model_choice.h"
#include "app/open_model.h"
#include "app/page_token.h"
#include "app/program.h"
#include "app/read_ahead.h"
#include "app/serve_options.h"
#include "kernels/kernel_table.h"
#include "page/page_site.h"
#include "server/metrics.h"
#include "server/openai_api.h"
#include "server/request_log.h"
#include "server/router.h"
#include "server/server.h"

namespace smol::app {

namespace {

// From the signal on: answers get the grace, and a moment to be saved, or to be told that they were
// cut. All of it, writing the cache included, is done within kEnd; the engine's end comes after it.
constexpr std::chrono::milliseconds kGrace{3000}, kLastWords{1000}, kEnd{4300};

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

// Beside the slots at work as many hold paused turns and the ends of conversations. The cache holds
// blocks for half of them at full length, if there is memory, and for two in any case.
EngineSetup engine_setup(const ServeOptions& options) {
  EngineSetup setup;
  setup.engine.max_running = options.slots;
  setup.engine.max_waiting = options.queue;
  setup.engine.pace = options.pace;
  setup.engine.speculate = options.lookup;
  setup.capacity.n_slots = 2 * options.slots;
  setup.capacity.n_contexts = std::max<std::size_t>(options.slots / 2, 2);
  return setup;
}

// With a key of our own for browsers, which they get for one of the others.
server::AccessRules rules_of(const ServeOptions& options, const std::string& page_token) {
  server::AccessRules rules = access_rules(options);
  if (!rules.api_keys.empty()) {
    rules.api_keys.push_back(page_token);
  }
  return rules;
}

page::PageFacts page_facts(const ServeOptions& options, const std::filesystem::path& model) {
  page::PageFacts facts;
  facts.most_import_bytes = options.most_import_bytes;
  facts.version = SMOLBOT_VERSION;
  facts.model_name = model.stem().string();
  // "SmolLM3-3B-Q4_K_M": the page says the quantization beside the name.
  const std::size_t dash = facts.model_name.rfind('-');
  if (dash != std::string::npos &&
      std::string_view("qQfFbBiI").find(facts.model_name[dash + 1]) != std::string_view::npos &&
      facts.model_name.find_first_of("0123456789", dash) != std::string::npos) {
    facts.model_name.resize(dash);
  }
  facts.model_file = model.filename().string();
  facts.instruction_set = kernels::active_kernels().isa;
  return facts;
}

// What one server holds; parts refer to those before them.
class Serving {
 public:
  // Listens before it loads: a port in use ends it at once, and /health says that it loads.
  explicit Serving(const ServeOptions& options)
      : options_(options),
        folder_(options.data_folder ? *options.data_folder : default_data_folder()),
        page_token_(page_token(folder_, options.access.api_keys)),
        rules_(rules_of(options, page_token_)),
        router_(rules_),
        choice_(choose_model_and_tell(options.model.model)),
        log_(log_writer(options), options.log_prompts),
        api_(metrics_),
        page_(page_facts(options, choice_.path), rules_,
              rules_.api_keys.empty() ? "" : page_token_) {
    raise_file_limit(options.server.limits.connections);
    api_.add_routes(router_);
    page_.add_routes(router_);
    server_.emplace(options.server, router_, metrics_, log_);
    sessions_ = open_sessions(folder_);
    keep_page_token(folder_, options.access.api_keys, page_token_);
    model_.emplace(choice_.path, options.model, engine_setup(options));
  }

  // Until a signal comes.
  void run() {
    const InterruptGuard guard({SIGINT, SIGTERM, SIGHUP});
    engine::Engine& engine = model_->assistant.engine;
    const std::filesystem::path file = folder_ / "prompts.kv";
    const std::vector<std::vector<TokenId>> prompts = shared_beginnings(model_->builder);
    {
      const StopOnInterrupt stop(guard);
      read_ahead(engine, prompts, file, stop.token());
    }
    keep_for_next_run(engine, prompts, file);
    page_.open(model_->service, *sessions_, metrics_, model_->assistant.runtime.pool.size(),
               {folder_ / "sessions.kv", options_.cache_file_bytes,
                [](const std::string& error) { note(error_line(error)); }});
    api_.set_assistant(model_->service);
    note(fmt::format("smolbot: {} answers at {}, context {} tokens. Ctrl-C ends it.",
                     model_->service.model().id, url_of(options_.server, server_->port()),
                     model_->service.model().context));
    guard.wait();
    const auto end = std::chrono::steady_clock::now() + kEnd;
    page_.close(kGrace);
    server_->stop(kGrace, kLastWords);
    page_.end();
    if (options_.save_cache) {
      keep_for_next_run(engine, prompts, file,
                        {.nobodys = true, .max_bytes = options_.cache_file_bytes, .goes_on = [end] {
                           return std::chrono::steady_clock::now() < end;
                         }});
    }
  }

 private:
  const ServeOptions& options_;
  std::filesystem::path folder_;
  std::string page_token_;
  server::AccessRules rules_;
  server::Router router_;
  ModelChoice choice_;
  std::unique_ptr<store::SessionStore> sessions_;
  server::Metrics metrics_;  // turns refer to it until the engine has ended
  std::optional<Conversationalist> model_;
  server::RequestLog log_;
  server::OpenAiApi api_;
  page::PageSite page_;
  std::optional<server::Server> server_;
};

int run(const ServeOptions& options) {
  Serving(options).run();
  return kSuccess;
}

}  // namespace

void add_serve_command(CLI::App& program, Plan& plan) {
  auto state = std::make_shared<ServeOptions>();
  CLI::App& command = add_command(program, "serve", "the chat page and the API over HTTP", plan,
                                  [state] { return run(*state); });
  add_serve_options(command, *state);
}

}  // namespace smol::app
