// kill -9 at random moments: what was acknowledged is there, what was under way is there whole or
// not at all, and SQLite's own shell finds no damage. SMOLBOT_KILLS sets how often (20).
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "store/kill_model.h"
#include "store/test_store.h"

namespace smol::store {
namespace {

// Makes the steps on a real store.
class Worker {
 public:
  explicit Worker(const std::filesystem::path& folder) : store_(folder, [this] { return now_; }) {}

  void run(const Step& step) {
    using Kind = Step::Kind;
    Known& known = known_[step.session];
    const UserInput input{step.text, {}, true};
    switch (step.kind) {
      case Kind::New:
        known.turn = store_.begin_session({{}, kDate}, input);
        known.id = known.turn.session;
        break;
      case Kind::Import:
        import(known, step.text);
        break;
      case Kind::Save:
      case Kind::Finish:
        save(known, step);
        break;
      case Kind::Send:
        known.turn = store_.begin_turn(known.id, input).value();
        break;
      case Kind::Edit:
        known.turn = store_.begin_edit(last_question(known), input).value();
        break;
      case Kind::Cut:
        cut(known);
        break;
      case Kind::Title:
        store_.rename(known.id, step.text.substr(0, 20));
        break;
      case Kind::Erase:
        known.deletion = store_.erase_session(known.id).id;
        break;
      case Kind::Undo:
        store_.undo(known.deletion).value();
        break;
      case Kind::Purge:
        now_ += SessionStore::kUndoTime;
        store_.purge();
        break;
    }
  }

 private:
  struct Known {
    SessionId id;
    Turn turn;
    DeletionId deletion = 0;
  };

  void import(Known& known, const std::string& text) {
    Transcript transcript;
    transcript.session.title = text.substr(0, 20);
    transcript.session.title_origin = TitleOrigin::Person;
    transcript.session.date = kDate;
    transcript.entries.resize(2);
    transcript.entries[0].message.text = text;
    Message& answer = transcript.entries[1].message;
    answer.role = Role::Assistant;
    answer.answer.state = AnswerState::Done;
    answer.answer.parts.emplace_back(TextPart{text + " imported"});
    transcript.entries[1].parent = 0;
    transcript.leaf = 1;
    known.id = store_.insert({transcript}).at(0);
  }

  void save(const Known& known, const Step& step) {
    Answer answer;
    answer.state = step.kind == Step::Kind::Save ? AnswerState::Running : AnswerState::Done;
    answer.parts.emplace_back(TextPart{step.text});
    store_.save(known.turn.id, answer);
  }

  MessageId last_question(const Known& known) {
    return store_.newest_messages(known.id, 2).messages.at(0).id;
  }

  // The path must end in the messages above, not in another branch.
  void cut(const Known& known) {
    const Message question = store_.message(last_question(known));
    for (Branch branch = question.branch; branch.count > 1;
         branch = store_.message(question.id).branch) {
      store_.erase_message(branch.previous ? *branch.previous : *branch.next);
    }
    store_.erase_message(question.id);
  }

  Time now_ = kStart;
  SessionStore store_;
  std::map<int, Known> known_;
};

// Tells each step before and after it is made; ends by being killed.
[[noreturn]] void work(const std::filesystem::path& folder, unsigned seed, int out) {
  std::mt19937 random(seed);
  Model model;
  Worker worker(folder);
  std::FILE* pipe = ::fdopen(out, "w");
  for (;;) {
    const Step step = random_step(model, random);
    std::fprintf(pipe, "%s\n", step.line().c_str());
    std::fflush(pipe);
    worker.run(step);
    model.apply(step);
    std::fputs("done\n", pipe);
    std::fflush(pipe);
  }
}

struct Outcome {
  Model acknowledged, perhaps;  // `perhaps`: with the step that was under way
  std::size_t steps = 0;
};

Outcome kill_during_work(const std::filesystem::path& folder, unsigned seed) {
  std::mt19937 random(seed + 1);
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe(ends.data()), 0);
  const ::pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    work(folder, seed, ends[1]);
  }
  ::close(ends[1]);
  std::FILE* in = ::fdopen(ends[0], "r");
  const std::size_t wanted = random() % 60;
  Outcome outcome;
  std::string line;
  bool killed = false;
  for (int c = std::fgetc(in); c != EOF; c = std::fgetc(in)) {
    if (c != '\n') {
      line += static_cast<char>(c);
      continue;
    }
    if (line == "done") {
      outcome.acknowledged = outcome.perhaps;
      ++outcome.steps;
    } else {
      outcome.perhaps.apply(Step::of(line));
    }
    line.clear();
    if (!killed && outcome.steps >= wanted) {
      for (auto turns = random() % 3000; turns > 0; --turns) {
        std::this_thread::yield();
      }
      ::kill(child, SIGKILL);
      killed = true;
    }
  }
  std::fclose(in);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "the worker ended by itself";
  return outcome;
}

// What SQLite's own shell says of the file.
std::string shell_check(const std::filesystem::path& file) {
  const std::string command =
      "sqlite3 '" + file.string() +
      "' \"PRAGMA integrity_check; PRAGMA foreign_key_check;"
      " INSERT INTO found_parts (found_parts, rank) VALUES ('integrity-check', 1);\" 2>&1";
  std::FILE* shell = ::popen(command.c_str(), "r");
  std::string out;
  for (int c = std::fgetc(shell); c != EOF; c = std::fgetc(shell)) {
    out += static_cast<char>(c);
  }
  ::pclose(shell);
  return out;
}

std::multiset<std::string> outlines_of(const SessionStore& store) {
  std::multiset<std::string> out;
  for (const SessionId& id : store.session_ids()) {
    const Session found = store.session(id);
    const bool is_given = found.title_origin == TitleOrigin::Person;
    Model::Session session{is_given ? found.title : "", {}, false, false};
    for (const Message& message : store.newest_messages(id, TestStore::kAll).messages) {
      session.path.push_back(TestStore::text_of(message));
      session.running = message.answer.state == AnswerState::Interrupted;
    }
    out.insert(Model::outline(session));
  }
  return out;
}

// A text that no other begins with, unless it is short.
bool is_one_of_a_kind(const std::string& text) {
  return text.size() >= 60;
}

// What was deleted is in no file once the time for undo is over.
void expect_gone(const std::filesystem::path& folder, SessionStore& store, const Model& model) {
  store.purge();
  for (const std::string& text : model.erased_texts()) {
    EXPECT_FALSE(is_one_of_a_kind(text) && folder_holds(folder, text.substr(0, 60))) << text;
  }
}

TEST(Kill, LosesNothingThatWasAcknowledged) {
  const char* wanted = std::getenv("SMOLBOT_KILLS");
  const unsigned kills = wanted == nullptr ? 20U : static_cast<unsigned>(std::atoi(wanted));
  std::size_t steps = 0;
  for (unsigned seed = 0; seed < kills; ++seed) {
    const test::TempFolder folder;
    const Outcome outcome = kill_during_work(folder.path(), seed * 7919U);
    steps += outcome.steps;
    if (std::filesystem::exists(folder.path() / "sessions.db") && outcome.steps > 0) {
      ASSERT_EQ(shell_check(folder.path() / "sessions.db"), "ok\n") << seed;
    }
    SessionStore store(folder.path(), [] { return kStart + std::chrono::years(1); });
    const auto found = outlines_of(store);
    const bool is_known = found == outcome.acknowledged.outlines();
    ASSERT_TRUE(is_known || found == outcome.perhaps.outlines())
        << "kill " << seed << " after " << outcome.steps << " steps";
    expect_gone(folder.path(), store, is_known ? outcome.acknowledged : outcome.perhaps);
  }
  std::printf("%u kills in %zu acknowledged steps\n", kills, steps);
}

}  // namespace
}  // namespace smol::store
