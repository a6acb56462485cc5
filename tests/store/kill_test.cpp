// SPDX-License-Identifier: Apache-2.0
// A run that is killed at any moment loses nothing that it had measured, and goes on to the findings of an unbroken one.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <thread>

#include "runtime/store/store.h"

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr int kKills = 50;

struct Folder {
  std::string path = (fs::temp_directory_path() / "gexp-kill-XXXXXX").string();
  Folder() { REQUIRE(mkdtemp(path.data()) != nullptr); }
  ~Folder() { fs::remove_all(path); }
};

pid_t start(const std::string& folder, const std::string& out, bool resume) {
  const auto pid = fork();
  if (pid != 0) return pid;
  if (chdir(folder.c_str()) != 0) _exit(99);
  const int to = open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644), none = open("/dev/null", O_WRONLY);
  dup2(to, STDOUT_FILENO);
  dup2(none, STDERR_FILENO);
  setenv("GEXP_STORE", "gexp.db", 1);
  const char* spec = GEXP_SOURCE_DIR "/experiments/cache/structure.gexp";
  // --fresh: a run that is killed just after its end would be kept whole by the next one, which then says so.
  execl(GEXP_BINARY, "gexp", "run", spec, "--device", "sim:drawn-7-noisy", "--json", "--quiet", "--fresh", resume ? "--resume" : nullptr, nullptr);
  _exit(98);
}

int end_of(pid_t pid) {
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

nlohmann::json result(const std::string& path) {
  std::ifstream in(path);
  auto json = nlohmann::json::parse(in);
  json.erase("timing");
  return json;
}

/// What the store holds: the bytes of every whole round, by run, stage and place. Those of runs that have ended apart: what was
/// measured ahead and not wanted goes then.
std::map<std::string, std::string> rounds(const std::string& path, bool ended) {
  std::map<std::string, std::string> all;
  if (!fs::exists(path)) return all;
  auto database = gexp::store::Database::open(path, gexp::store::Database::Mode::Write);
  REQUIRE(database.ok());
  auto query = database->prepare(std::string("SELECT run || stage || place || first, data FROM rounds JOIN runs ON run = runs.id WHERE whole = 1 AND state ") + (ended ? "<>" : "=") + " 'running'");
  if (!query) return all;  // killed before the tables were made
  for (;;) {
    auto row = query->step();
    REQUIRE(row.ok());
    if (!*row) return all;
    all[query->text(0)] = std::string(query->blob(1));
  }
}

}  // namespace

TEST_CASE("fifty runs that are killed at chance moments go on without loss, to the result of an unbroken run" * doctest::test_suite("long")) {
  const Folder unbroken;
  const auto began = Clock::now();
  REQUIRE(end_of(start(unbroken.path, "out.json", false)) <= 1);
  const auto whole = Clock::now() - began;
  const auto wanted = result(unbroken.path + "/out.json");

  std::mt19937 chance(20261122);
  int kills = 0, ended = 0, grew = 0, in_the_middle = 0;
  while (kills < kKills) {
    const Folder broken;
    const auto store = broken.path + "/gexp.db";
    std::map<std::string, std::string> kept;
    for (bool resume = false;; resume = true) {
      const auto pid = start(broken.path, "out.json", resume);
      // Later attempts have less to do, since they begin where the last one was killed.
      const bool kill_it = kills < kKills && chance() % 4 != 0;
      if (kill_it) {
        std::this_thread::sleep_for(whole * static_cast<int>(chance() % 1000) / 1000);
        kill(pid, SIGKILL);
      }
      const int end = end_of(pid);
      const auto now = rounds(store, false), of_ended = rounds(store, true);
      for (const auto& [place, bytes] : kept) {
        const auto found = now.find(place), at_the_end = of_ended.find(place);
        REQUIRE_MESSAGE((found != now.end() || !of_ended.empty()), "lost: " << place);
        if (found != now.end()) REQUIRE_MESSAGE(found->second == bytes, "measured again: " << place);
        if (at_the_end != of_ended.end()) REQUIRE_MESSAGE(at_the_end->second == bytes, "measured again: " << place);
      }
      grew += now.size() > kept.size() ? 1 : 0;
      kept = now;
      if (end == -SIGKILL) {
        ++kills;
        in_the_middle += now.empty() ? 0 : 1;
        continue;
      }
      REQUIRE(end >= 0);
      REQUIRE(end <= 1);
      CHECK(result(broken.path + "/out.json") == wanted);
      ++ended;
      break;
    }
  }
  MESSAGE(kills << " kills, " << in_the_middle << " of them after something was measured, " << ended << " runs ended");
  CHECK(in_the_middle > kKills / 3);
  CHECK(grew > 10);
}
