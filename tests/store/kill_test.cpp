// SPDX-License-Identifier: Apache-2.0
// A run that dies at any moment loses nothing that it had measured, and goes on to the findings of an unbroken one.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/resource.h>
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
#include "tests/store/folder.h"

namespace {

namespace fs = std::filesystem;
using gexp::test::Folder;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr int kDeaths = 50;
constexpr int kLostOutput = 3, kInterrupted = 130;  // exit codes (docs/reference/commands.md)

enum class Death { None, Kill, FullDisk, DeadTerminal };

/// A run that saves its result as out.json. `death`: what it will die of; its disk takes files of `room` bytes.
pid_t start(const std::string& folder, Death death, rlim_t room, int& terminal, bool resume) {
  terminal = -1;
  const auto pid = death == Death::DeadTerminal ? forkpty(&terminal, nullptr, nullptr, nullptr) : fork();
  if (pid != 0) return pid;
  if (chdir(folder.c_str()) != 0) _exit(99);
  if (death == Death::FullDisk) {
    const rlimit most{room, room};
    setrlimit(RLIMIT_FSIZE, &most);
  }
  if (death != Death::DeadTerminal) {
    const int none = open("/dev/null", O_WRONLY), said = death == Death::FullDisk ? none : open("said.txt", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(none, STDOUT_FILENO);
    dup2(said, STDERR_FILENO);
  }
  setenv("GEXP_STORE", "gexp.db", 1);
  setenv("TMPDIR", folder.c_str(), 1);  // where a result is saved that --out could not take
  const char* spec = GEXP_SOURCE_DIR "/experiments/cache/structure.gexp";
  // --fresh: a run that is killed just after its end would be kept whole by the next one, which then says so.
  execl(GEXP_BINARY, "gexp", "run", spec, "--device", "sim:drawn-7-noisy", "--out", "out.json", "--fresh", resume ? "--resume" : nullptr, nullptr);
  _exit(98);
}

int end_of(pid_t pid) {
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/// What a terminal has said until now; 0: nothing.
ssize_t read_some(int terminal, char* into, std::size_t most) {
  pollfd ready{terminal, POLLIN, 0};
  return poll(&ready, 1, 0) == 1 && (ready.revents & POLLIN) != 0 ? read(terminal, into, most) : 0;
}

std::string text_of(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

nlohmann::json saved_result(const std::string& path) {
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

TEST_CASE("fifty runs that die at chance moments, killed, of a full disk or with their terminal, go on without loss, to the result of an unbroken run" * doctest::test_suite("long")) {
  const Folder unbroken;
  int terminal = -1;
  const auto began = Clock::now();
  REQUIRE(end_of(start(unbroken.path, Death::None, 0, terminal, false)) <= 1);
  const auto whole = Clock::now() - began;
  const auto wanted = saved_result(unbroken.path + "/out.json");
  const auto size = fs::file_size(unbroken.path + "/gexp.db");

  std::mt19937 chance(20261122);
  int deaths = 0, ended = 0, grew = 0, in_the_middle = 0;
  std::map<Death, int> of;
  while (deaths < kDeaths) {
    const Folder broken;
    const auto store = broken.path + "/gexp.db";
    std::map<std::string, std::string> kept;
    for (bool resume = false;; resume = true) {
      // Later attempts have less to do, since they begin where the last one died.
      constexpr Death kKinds[] = {Death::Kill, Death::Kill, Death::FullDisk, Death::DeadTerminal};
      const auto death = deaths < kDeaths && chance() % 4 != 0 ? kKinds[chance() % 4] : Death::None;
      const auto before = fs::exists(store) ? fs::file_size(store) : 0;
      const auto pid = start(broken.path, death, before + 4096 * (chance() % (size / 4096 + 16)), terminal, resume);
      if (death == Death::Kill || death == Death::DeadTerminal) {
        const auto until = Clock::now() + whole * static_cast<int>(chance() % 1000) / 1000;
        while (Clock::now() < until) {
          std::this_thread::sleep_for(5ms);
          char said[4096];
          if (terminal >= 0) while (read_some(terminal, said, sizeof said) > 0) {}  // a terminal that nobody reads would stop it
        }
        if (death == Death::Kill) kill(pid, SIGKILL);
        else close(terminal);
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
      const bool hung_up = death == Death::DeadTerminal && end == -SIGHUP;  // before it listened
      const bool died = end == -SIGKILL || hung_up || end == kLostOutput || end == kInterrupted;
      kept = !now.empty() ? now : died ? of_ended : now;
      if (died) {
        REQUIRE(death != Death::None);
        ++deaths, ++of[death];
        in_the_middle += kept.empty() ? 0 : 1;
        continue;
      }
      REQUIRE(end >= 0);
      REQUIRE_MESSAGE(end <= 1, "death " << static_cast<int>(death) << ", exit " << end << ", " << kept.size() << " rounds kept: " << text_of(broken.path + "/said.txt"));
      CHECK(saved_result(broken.path + "/out.json") == wanted);
      ++ended;
      break;
    }
  }
  MESSAGE(of[Death::Kill] << " killed, " << of[Death::FullDisk] << " of a full disk, " << of[Death::DeadTerminal] << " with their terminal, " << in_the_middle
                          << " of them after something was measured; " << ended << " runs ended");
  CHECK(in_the_middle > kDeaths / 3);
  CHECK(of[Death::FullDisk] > 3);
  CHECK(of[Death::DeadTerminal] > 3);
  CHECK(grew > 10);
}
