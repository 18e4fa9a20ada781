#include "app/serve_options.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "app/flags.h"
#include "app/numbers.h"
#include "base/error.h"

namespace smol::app {

namespace {

constexpr std::uint64_t kMostSlots = 64;
constexpr double kMostPace = 1e6;

std::string checked_key(const std::string& what, const std::string& text) {
  constexpr std::size_t kLongest = 512;
  const bool is_visible = std::ranges::all_of(text, [](char c) { return c > ' ' && c <= '~'; });
  if (text.empty() || text.size() > kLongest || !is_visible) {
    throw Error{ErrorCode::BadInput,
                fmt::format("{}: expected 1 to {} visible ASCII characters without spaces, found "
                            "others",
                            what, kLongest)};
  }
  return text;
}

std::string checked_host_name(const std::string& what, const std::string& text) {
  const auto host = server::parse_host(text);
  if (!host || host->port) {
    throw Error{ErrorCode::BadInput, fmt::format("{}: expected a host name without port, found {}",
                                                 what, in_quotes(text))};
  }
  return host->host;
}

void add_seconds(CLI::App& command, const Flag& flag, Bounds<std::uint64_t> bounds,
                 std::chrono::milliseconds& target) {
  add_value(command, flag, "SECONDS", [&target, bounds](const auto& what, const auto& text) {
    target = std::chrono::seconds(parse_count(what, text, bounds));
  });
}

void add_listening(CLI::App& command, ServeOptions& options) {
  server::ServerOptions& server = options.server;
  add_value(command, {"--host", "the IP address to listen on", "127.0.0.1"}, "ADDRESS",
            [&server](const auto& what, const auto& text) {
              try {
                static_cast<void>(server::is_loopback(text));
              } catch (const Error&) {
                throw Error{ErrorCode::BadInput,
                            fmt::format("{}: expected an IP address or localhost, found {}", what,
                                        in_quotes(text))};
              }
              server.host = text;
            });
  add_value(command, {"--port", "the port to listen on; 0: a free one", "3000"}, "N",
            [&server](const auto& what, const auto& text) {
              server.port = static_cast<std::uint16_t>(parse_count(what, text, {0, 65535}));
            });
  add_count(command, {"--io-threads", "threads that serve connections", "1"}, {1, 64},
            server.io_threads);
  add_count(command, {"--worker-threads", "threads that read requests and build prompts", "2"},
            {1, 64}, server.worker_threads);
}

void add_access(CLI::App& command, ServeOptions& options) {
  add_list(command,
           {"--api-key",
            "what clients must send as a bearer token; may be repeated, the variable gives one",
            "none is needed"},
           "KEY", [&options](const auto& what, const auto& text) {
             options.access.api_keys.push_back(checked_key(what, text));
           });
  add_switch(
      command,
      {"--no-auth", "other machines may come in without a key, where --host lets them", "off"},
      [&options](bool on) { options.no_auth = on; });
  add_list(command,
           {"--allow-host",
            "another name that clients may call this machine by; may be repeated, the variable "
            "gives one",
            "none"},
           "NAME", [&options](const auto& what, const auto& text) {
             options.access.hosts.push_back(checked_host_name(what, text));
           });
  add_list(
      command,
      {"--allow-origin",
       "another site whose pages may ask (CORS); may be repeated, the variable gives one", "none"},
      "ORIGIN", [&options](const auto& what, const auto& text) {
        options.access.origins.push_back(server::checked_origin(what, text));
      });
}

void add_limits(CLI::App& command, ServeOptions& options) {
  server::Limits& limits = options.server.limits;
  add_count(command, {"--max-header-bytes", "longest head of a request", "16384"},
            {1024, 1UL << 20U}, limits.header_bytes);
  add_count(command, {"--max-body-bytes", "longest body of a request", "16777216"},
            {1024, 1UL << 30U}, limits.body_bytes);
  add_count(command,
            {"--max-import-bytes", "longest file of conversations that is imported", "268435456"},
            {1024, 1UL << 32U}, options.most_import_bytes);
  add_count(command,
            {"--max-all-bodies-bytes", "longest bodies of all requests at one time", "268435456"},
            {1024, 1UL << 36U}, limits.all_bodies_bytes);
  add_count(command, {"--max-connections", "most connections at one time", "2048"}, {1, 65536},
            limits.connections);
  add_seconds(command, {"--request-time", "how long a request may take to arrive", "30"}, {1, 3600},
              limits.request_time);
  add_seconds(command, {"--keep-alive", "how long a connection may be idle", "75"}, {1, 3600},
              limits.keep_alive);
  add_seconds(command, {"--slow-reader", "how long a client may read nothing of its answer", "60"},
              {1, 3600}, limits.slow_reader);
  add_count(command, {"--queue", "answers that may wait for their turn", "64"}, {1, 65536},
            options.queue);
}

void add_engine(CLI::App& command, ServeOptions& options) {
  add_count(command, {"--slots", "answers that are written side by side", "8"}, {1, kMostSlots},
            options.slots);
  add_number(
      command,
      {"--pace", "most tokens a second of each answer, ten times as many of a prompt; 0: any", "0"},
      {0.0, kMostPace}, options.pace);
  add_opposites(command,
                {"--lookup",
                 "what stood in the text before is tried as what follows: copying goes faster, "
                 "answers stay the same",
                 "on"},
                {"--no-lookup", "tokens are computed one by one", "on"},
                [&options](bool on) { options.lookup = on; });
  add_value(command,
            {"--data-dir", "the folder of what is kept from one run to the next",
             "smolbot in $XDG_DATA_HOME or ~/.local/share"},
            "FOLDER", [&options](const auto& what, const auto& text) {
              if (text.empty()) {
                throw Error{ErrorCode::BadInput, what + ": expected a folder, found none"};
              }
              options.data_folder = text;
            });
  add_switch(command,
             {"--save-cache",
              "what was read for clients of the API, and answered, is kept on disk for the next "
              "run, as it is for the page's conversations",
              "off"},
             [&options](bool on) { options.save_cache = on; });
  add_count(command,
            {"--cache-file-bytes",
             "longest file of what was read for the page's conversations, and for clients; 0: none",
             "536870912"},
            {0, 1UL << 40U}, options.cache_file_bytes);
}

}  // namespace

void add_serve_options(CLI::App& command, ServeOptions& options) {
  add_file_options(command, options.model);
  add_template_option(command, options.model);
  add_compute_options(command, options.model);
  add_engine(command, options);
  add_listening(command, options);
  add_access(command, options);
  add_limits(command, options);
  add_opposites(command, {"--log-requests", "a line of JSON on standard error for each", "on"},
                {"--no-log-requests", "no such lines", "on"},
                [&options](bool on) { options.log_requests = on; });
  add_switch(command, {"--log-prompts", "the lines hold what clients sent", "off"},
             [&options](bool on) { options.log_prompts = on; });
}

server::AccessRules access_rules(const ServeOptions& options) {
  const std::string& host = options.server.host;
  if (!server::is_loopback(host) && options.access.api_keys.empty() && !options.no_auth) {
    throw Error{ErrorCode::BadInput,
                fmt::format("--host: expected --api-key (or --no-auth) beside an address that "
                            "other machines reach, found {} alone",
                            host)};
  }
  server::AccessRules rules = options.access;
  rules.hosts.push_back(host);
  return rules;
}

}  // namespace smol::app
