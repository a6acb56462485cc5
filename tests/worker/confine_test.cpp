// SPDX-License-Identifier: Apache-2.0
// What a confined process still may do, tried in a process of its own.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "runtime/worker/confine.h"

using namespace gexp;
namespace fs = std::filesystem;

namespace {

struct Folders {
  fs::path here = fs::temp_directory_path() / ("gexp-confine-" + std::to_string(getpid()));
  Folders() { fs::create_directories(here / "mine"), fs::create_directories(here / "other"), std::ofstream(here / "other" / "text") << "text"; }
  ~Folders() { fs::remove_all(here); }
};

/// Whether `tried` says yes in a process that is confined so.
bool confined(const worker::Confinement& to, const std::function<bool()>& tried) {
  const auto pid = fork();
  if (pid == 0) {
    worker::confine(to);
    _exit(tried() ? 0 : 1);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool writes(const fs::path& path) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT, 0600);
  const bool wrote = file >= 0 && write(file, "x", 1) == 1;
  if (file >= 0) close(file);
  return wrote;
}

bool has(const char* what) { return worker::confinement_here().find(what) != std::string::npos; }

}  // namespace

TEST_CASE("a confined process writes in its own folders and nowhere else, and reads everywhere") {
  const Folders folders;
  const worker::Confinement to{{(folders.here / "mine").string()}, false};
  CHECK(confined(to, [&] { return writes(folders.here / "mine" / "made"); }));
  CHECK(confined(to, [&] { return fs::create_directory(folders.here / "mine" / "deeper") && writes(folders.here / "mine" / "deeper" / "made"); }));
  CHECK(confined(to, [&] { std::string text; return bool(std::ifstream(folders.here / "other" / "text") >> text) && text == "text"; }));
  if (!has("Landlock")) {
    MESSAGE("this kernel has no Landlock");
    return;
  }
  CHECK_FALSE(confined(to, [&] { return writes(folders.here / "other" / "made"); }));
  CHECK_FALSE(confined(to, [&] { return writes(folders.here / "other" / "text"); }));
  CHECK_FALSE(confined(to, [&] { return unlink((folders.here / "other" / "text").c_str()) == 0; }));
  CHECK_FALSE(confined({{}, true}, [&] { return writes(folders.here / "other" / "made"); }));
}

TEST_CASE("it computes and starts threads, but no program, process or socket") {
  const worker::Confinement to{{}, false};
  CHECK(confined(to, [] {
    bool ran = false;
    std::thread([&] { ran = true; }).join();
    return ran;
  }));
  rlimit core{};
  CHECK(confined(to, [&] { return getrlimit(RLIMIT_CORE, &core) == 0 && core.rlim_max == 0; }));
  if (!has("seccomp")) {
    MESSAGE("this kernel has no seccomp");
    return;
  }
  CHECK_FALSE(confined(to, [] { return socket(AF_INET, SOCK_STREAM, 0) >= 0; }));
  CHECK_FALSE(confined(to, [] {
    execl("/bin/true", "true", nullptr);
    return false;
  }));
#ifndef __SANITIZE_ADDRESS__
  CHECK(confined(to, [] { return fork() < 0 && errno == EPERM; }));
#endif
}

TEST_CASE("what drives a GPU may start programs, as the driver does") {
  CHECK(confined({{}, true}, [] {
    execl("/bin/true", "true", nullptr);
    return false;
  }));
  CHECK(confined({{}, true}, [] { return socket(AF_UNIX, SOCK_STREAM, 0) >= 0; }));
}
