// What the engine makes of a model: tokens a second of several answers at a time, how answers flow
// while a long prompt is read, how soon a known prompt is answered, and what drafts bring.
//   engine_bench MODEL [THREADS]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/thread_pool.h"
#include "engine/engine.h"
#include "gguf/file.h"
#include "kernels/kernel_table.h"
#include "model/decoder.h"
#include "model/weights.h"

namespace smol {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

class TimingSink final : public engine::Sink {
 public:
  void on_progress(const engine::Progress& /*progress*/) noexcept override {}

  bool on_token(const engine::Token& token) noexcept override {
    times.push_back(Clock::now());
    tokens.push_back(token.id);
    return true;
  }

  void on_finished(const engine::Result& result) noexcept override { end_.set_value(result); }

  void on_failed(const Error& error) noexcept override {
    end_.set_exception(std::make_exception_ptr(error));
  }

  engine::Result wait() { return end_.get_future().get(); }

  std::vector<Clock::time_point> times;
  std::vector<TokenId> tokens;

 private:
  std::promise<engine::Result> end_;
};

std::vector<TokenId> some_ids(std::size_t count, std::size_t kind, std::size_t vocab_size) {
  std::vector<TokenId> ids;
  std::uint64_t state = kind * 7919 + 1;
  for (std::size_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    ids.push_back(static_cast<TokenId>((state >> 33U) % vocab_size));
  }
  return ids;
}

engine::Request request_of(std::vector<TokenId> prompt, std::size_t max_tokens) {
  engine::Request request;
  request.prompt = std::move(prompt);
  request.max_tokens = max_tokens;
  request.sampling.seed = 1;
  request.sampling.temperature = 0;
  return request;
}

class Bench {
 public:
  Bench(const std::string& path, std::size_t threads)
      : file_(gguf::File::open(path)),
        pool_(threads),
        weights_(file_, model::ModelConfig::from_gguf(file_, kContext), pool_),
        decoder_(model::make_cpu_decoder(weights_,
                                         {.n_slots = 16,
                                          .context = kContext,
                                          .max_batch = 512,
                                          .n_blocks = 3 * kContext / model::kBlockTokens},
                                         pool_, kernels::active_kernels())) {}

  // Of answers that begin together, from the first token of the last one to begin.
  double tokens_per_second(std::size_t n_sequences) {
    engine::Engine engine(*decoder_, {.max_running = n_sequences, .speculate = false});
    std::vector<std::shared_ptr<TimingSink>> sinks;
    for (std::size_t i = 0; i < n_sequences; ++i) {
      sinks.push_back(std::make_shared<TimingSink>());
      engine.submit(request_of(ids(32, i), kAnswer), sinks.back());
    }
    Clock::time_point begin{};
    Clock::time_point end = Clock::time_point::max();
    for (const auto& sink : sinks) {
      sink->wait();
      begin = std::max(begin, sink->times.front());
      end = std::min(end, sink->times.back());
    }
    std::size_t n_tokens = 0;
    for (const auto& sink : sinks) {
      n_tokens += static_cast<std::size_t>(std::ranges::count_if(
          sink->times, [&](Clock::time_point time) { return time > begin && time <= end; }));
    }
    return static_cast<double>(n_tokens) / std::chrono::duration<double>(end - begin).count();
  }

  struct Flow {
    double median_before, median, p95, largest;
  };

  // Milliseconds between tokens of three answers before and while a prompt is read.
  Flow flow(std::size_t prompt_tokens) {
    engine::Engine engine(*decoder_, {.max_running = 8, .speculate = false});
    std::vector<std::shared_ptr<TimingSink>> sinks;
    std::vector<std::shared_ptr<engine::Ticket>> tickets;
    for (std::size_t i = 0; i < 3; ++i) {
      sinks.push_back(std::make_shared<TimingSink>());
      tickets.push_back(engine.submit(request_of(ids(32, i), kContext - 40), sinks.back()));
    }
    while (engine.stats().generated_tokens < 120) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    const Clock::time_point begin = Clock::now();
    const auto reader = std::make_shared<TimingSink>();
    engine.submit(request_of(ids(prompt_tokens, 9), 1), reader);
    reader->wait();
    const Clock::time_point end = Clock::now();
    for (std::size_t i = 0; i < sinks.size(); ++i) {
      tickets[i]->cancel();
      sinks[i]->wait();
    }
    std::vector<double> before = gaps(sinks, Clock::time_point{}, begin);
    std::vector<double> during = gaps(sinks, begin, end);
    return {at(before, 0.5), at(during, 0.5), at(during, 0.95), at(during, 1)};
  }

  // Seconds to the first token of a prompt, then of one that begins like it.
  std::pair<double, double> reuse(std::size_t n_shared, std::size_t n_added) {
    engine::Engine engine(*decoder_, {});
    std::vector<TokenId> prompt = ids(n_shared, 20);
    const double first = seconds_to_answer(engine, prompt);
    const std::vector<TokenId> more = ids(n_added, 21);
    prompt.insert(prompt.end(), more.begin(), more.end());
    return {first, seconds_to_answer(engine, prompt)};
  }

  void drafts() {
    for (const bool speculate : {false, true, false, true}) {
      engine::Engine engine(*decoder_, {.speculate = speculate});
      const auto sink = std::make_shared<TimingSink>();
      engine.submit(request_of(ids(64, 30), 256), sink);
      const engine::Result result = sink->wait();
      std::printf(
          "drafts %-3s  %.1f tokens/s  %zu drafted, %zu accepted, %.2f tokens a step\n",
          speculate ? "on" : "off",
          static_cast<double>(result.generated_tokens) /
              std::chrono::duration<double>(result.decode_time).count(),
          result.drafted_tokens, result.accepted_tokens,
          static_cast<double>(result.generated_tokens) / static_cast<double>(result.n_steps));
    }
  }

 private:
  static constexpr std::size_t kContext = 4096;
  static constexpr std::size_t kAnswer = 64;

  std::vector<TokenId> ids(std::size_t count, std::size_t kind) const {
    return some_ids(count, kind, weights_.config().vocab_size);
  }

  static double seconds_to_answer(engine::Engine& engine, const std::vector<TokenId>& prompt) {
    const auto sink = std::make_shared<TimingSink>();
    const Clock::time_point begin = Clock::now();
    engine.submit(request_of(prompt, 1), sink);
    sink->wait();
    return seconds_since(begin);
  }

  static std::vector<double> gaps(const std::vector<std::shared_ptr<TimingSink>>& sinks,
                                  Clock::time_point begin, Clock::time_point end) {
    std::vector<double> gaps;
    for (const auto& sink : sinks) {
      for (std::size_t i = 1; i < sink->times.size(); ++i) {
        if (sink->times[i - 1] >= begin && sink->times[i] <= end) {
          gaps.push_back(
              std::chrono::duration<double, std::milli>(sink->times[i] - sink->times[i - 1])
                  .count());
        }
      }
    }
    return gaps;
  }

  static double at(std::vector<double>& values, double share) {
    if (values.empty()) {
      return 0;
    }
    std::ranges::sort(values);
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
  }

  gguf::File file_;
  ThreadPool pool_;
  model::Weights weights_;
  std::unique_ptr<model::Decoder> decoder_;
};

void run(const std::string& path, std::size_t threads) {
  Bench bench(path, threads);
  for (const std::size_t n : {1U, 4U, 8U, 1U, 4U, 8U}) {
    std::printf("%zu sequences  %.1f tokens/s\n", n, bench.tokens_per_second(n));
  }
  const Bench::Flow flow = bench.flow(2000);
  std::printf(
      "3 answers   %.1f ms between tokens (median); while 2,000 tokens are read %.1f, p95 %.1f, "
      "most %.1f\n",
      flow.median_before, flow.median, flow.p95, flow.largest);
  const auto [first, again] = bench.reuse(2000, 16);
  std::printf("first token %.3f s for 2,000 tokens, %.3f s with 16 more (%.1f %%)\n", first, again,
              100 * again / first);
  bench.drafts();
}

}  // namespace
}  // namespace smol

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: engine_bench MODEL [THREADS]\n");
    return 2;
  }
  try {
    smol::run(argv[1], argc > 2 ? static_cast<std::size_t>(std::atoi(argv[2]))
                                : smol::default_thread_count());
  } catch (const smol::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
