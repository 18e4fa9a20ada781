// A disk without room: an error, and a file as it was. The limit on the size of files stands for
// the full disk, in a process of its own.
#include <csignal>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/test_store.h"

namespace smol::store {
namespace {

constexpr ::rlim_t kMostBytes = 1 << 20;

// Fills the store until it refuses, then expects it to go on with what fits. The exit status says
// what went wrong.
int fill(const std::filesystem::path& folder) {
  std::signal(SIGXFSZ, SIG_IGN);
  const ::rlimit limit{kMostBytes, kMostBytes};
  if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) {
    return 2;
  }
  SessionStore store(folder);
  std::size_t saved = store.counts().sessions;
  for (int i = 0; i < 1000; ++i) {
    const auto code = error_of([&] {
      store.begin_session({{}, kDate}, {std::string(100'000, 'x'), {}, true});
      ++saved;
    });
    if (!code) {
      continue;
    }
    if (code != ErrorCode::Io) {
      return 3;
    }
    const bool same = store.counts().sessions == saved && store.session_ids().size() == saved;
    return same ? 0 : 4;
  }
  return 5;
}

TEST(FullDisk, IsAnErrorAndLeavesTheFileWhole) {
  TestStore store;
  const Turn turn = store.talk("before", "kept");
  store.close();
  const ::pid_t child = ::fork();
  if (child == 0) {
    ::_exit(fill(store.path()));
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  store.reopen();
  EXPECT_EQ(store.path_text(turn.session), "before/kept");
  EXPECT_GT(store->counts().sessions, 1U);
  store.talk("after", "works");
  EXPECT_EQ(store->search("works", 10).total, 1U);
}

}  // namespace
}  // namespace smol::store
