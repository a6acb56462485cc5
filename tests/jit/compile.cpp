// SPDX-License-Identifier: Apache-2.0
// The compiler and its cache, on a stand-in for NVRTC; at the end on the machine's own NVRTC, where there is one.
#include "runtime/jit/compiler.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <iterator>
#include <thread>

#include "tests/jit/scene.h"

using namespace gexp;
using jit::Compiler;
using device::Target;
using tests::Environment;
using tests::Folder;
namespace fs = std::filesystem;

namespace {

jit::Request request(std::string source, Target target = {}) { return {std::move(source), "t.cu", "k", target, {}}; }

/// The one kernel in a cache folder.
fs::path only_kernel(const std::string& cache) {
  fs::path found;
  int count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(cache + "/kernels")) {
    if (!entry.is_regular_file()) continue;
    found = entry.path();
    ++count;
  }
  CHECK(count == 1);
  return found;
}

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct FakeScene {
  Folder cache;
  Environment nvrtc{"GEXP_NVRTC", GEXP_FAKE_NVRTC};
  Environment folder{"GEXP_CACHE", cache.path()};
};

}  // namespace

TEST_CASE_FIXTURE(FakeScene, "what was compiled once comes from the cache, without NVRTC being loaded") {
  auto first = Compiler::open();
  REQUIRE(first);
  CHECK(first->loaded());  // nothing was known of this library
  CHECK(first->build() == "12.9.1");
  CHECK(first->architectures() == std::vector{50, 86, 90});
  auto compiled = first->compile(request("text"));
  REQUIRE(compiled);
  CHECK_FALSE(compiled->from_cache);
  CHECK(compiled->architecture == "compute_50");
  CHECK(compiled->image.entry == "k");
  CHECK(compiled->image.bytes.find("--gpu-architecture=compute_50\n") != std::string::npos);

  auto second = Compiler::open();
  REQUIRE(second);
  auto again = second->compile(request("text"));
  REQUIRE(again);
  CHECK(again->from_cache);
  CHECK_FALSE(second->loaded());
  CHECK(again->image.bytes == compiled->image.bytes);
  CHECK(again->key == compiled->key);
  CHECK(second->compile(request("another text"))->from_cache == false);
  CHECK(second->loaded());
}

TEST_CASE_FIXTURE(FakeScene, "the key changes with all that the image depends on") {
  auto compiler = Compiler::open();
  REQUIRE(compiler);
  const auto key = compiler->compile(request("text"))->key;
  CHECK(key.size() == 64);
  CHECK(compiler->compile(request("text "))->key != key);
  CHECK(compiler->compile(request("text", {Target::Form::Ptx, 9, 0}))->key != key);
  CHECK(compiler->compile(request("text", {Target::Form::Cubin, 5, 0}))->key != key);
  auto with_option = request("text");
  with_option.options = {"-lineinfo"};
  CHECK(compiler->compile(with_option)->key != key);

  const Environment build("FAKE_NVRTC_BUILD", "12.9.2");
  const Folder other;
  const Environment folder_of_other("GEXP_CACHE", other.path());
  auto newer = Compiler::open();
  REQUIRE(newer);
  CHECK(newer->build() == "12.9.2");
  CHECK(newer->compile(request("text"))->key != key);
}

TEST_CASE_FIXTURE(FakeScene, "a damaged entry is compiled again and replaced") {
  auto compiler = Compiler::open();
  REQUIRE(compiler);
  const auto image = compiler->compile(request("text"))->image.bytes;
  const auto path = only_kernel(cache.path());
  const auto good = text_of(path);
  auto flipped = good;
  flipped[good.size() - 3] ^= 1;
  auto longer = good + "x";
  const std::string damaged[] = {
      good.substr(0, good.size() / 2), flipped, longer, "", "gexp-kernel 1 ", "gexp-kernel 1 99999999999999999999 0 x\n",
      std::string(100, '\0')};
  for (const auto& text : damaged) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
    auto compiled = compiler->compile(request("text"));
    REQUIRE(compiled);
    CHECK_FALSE(compiled->from_cache);
    CHECK(compiled->image.bytes == image);
    CHECK(text_of(only_kernel(cache.path())) == good);
    CHECK(compiler->compile(request("text"))->from_cache);
  }
}

TEST_CASE_FIXTURE(FakeScene, "an entry under another key, a FIFO in its place, or one that others may write is a miss") {
  auto compiler = Compiler::open();
  REQUIRE(compiler);
  const auto image = compiler->compile(request("text"))->image.bytes;
  const auto path = only_kernel(cache.path());
  const auto key = compiler->compile(request("other"))->key;
  const auto other = cache.path() + "/kernels/" + key.substr(0, 2) + "/" + key;
  REQUIRE(fs::exists(other));
  fs::copy_file(path, other, fs::copy_options::overwrite_existing);
  CHECK_FALSE(compiler->compile(request("other"))->from_cache);
  CHECK(compiler->compile(request("other"))->from_cache);

  REQUIRE(chmod(path.c_str(), 0666) == 0);
  CHECK_FALSE(compiler->compile(request("text"))->from_cache);
  CHECK(compiler->compile(request("text"))->from_cache);

  fs::remove(path);
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  CHECK(compiler->compile(request("text"))->image.bytes == image);
  CHECK(compiler->compile(request("text"))->from_cache);
}

TEST_CASE_FIXTURE(FakeScene, "what is kept of a library heals") {
  REQUIRE(Compiler::open());
  const auto entry = fs::directory_iterator(cache.path() + "/nvrtc")->path().string();
  const auto good = text_of(entry);
  for (const auto& damaged : {good.substr(0, good.size() - 4), std::string(good).replace(good.size() - 3, 1, "7"), std::string()}) {
    std::ofstream(entry, std::ios::binary | std::ios::trunc) << damaged;
    auto compiler = Compiler::open();
    REQUIRE(compiler);
    CHECK(compiler->loaded());  // asked again
    CHECK(text_of(entry) == good);
    CHECK_FALSE(Compiler::open()->loaded());
  }
}

TEST_CASE_FIXTURE(FakeScene, "a cache of another owner is not trusted") {
  if (geteuid() != 0) return;  // nobody else can give files away
  REQUIRE(Compiler::open()->compile(request("text")));
  REQUIRE(chown(cache.path().c_str(), 65534, 65534) == 0);
  auto compiler = Compiler::open();
  REQUIRE(compiler);
  CHECK_FALSE(compiler->cache_usable());
  CHECK_FALSE(compiler->compile(request("text"))->from_cache);
}

TEST_CASE_FIXTURE(FakeScene, "a library that is cut short is named, not loaded") {
  const auto whole = text_of(GEXP_FAKE_NVRTC);
  const auto path = cache.path() + "/libnvrtc.so";
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{60}, std::size_t{4096}, whole.size() / 2, whole.size() - 1}) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << whole.substr(0, bytes);
    const Environment chosen("GEXP_NVRTC", path);
    auto compiler = Compiler::open();
    REQUIRE_FALSE(compiler);
    CHECK(compiler.error().code == "E0701");
    CHECK(compiler.error().message.find(path) != std::string::npos);
  }
}

TEST_CASE_FIXTURE(FakeScene, "a cache that cannot be used is no error") {
  for (const char* folder_name : {"/dev/null", "/dev/null/below", "/proc/gexp"}) {
    const Environment unusable("GEXP_CACHE", folder_name);
    auto compiler = Compiler::open();
    REQUIRE(compiler);
    CHECK_FALSE(compiler->cache_usable());
    CHECK(compiler->compile(request("text")));
    CHECK_FALSE(compiler->compile(request("text"))->from_cache);
  }
}

TEST_CASE_FIXTURE(FakeScene, "threads and processes share a cache") {
  auto compiler = Compiler::open();
  REQUIRE(compiler);
  std::vector<pid_t> children;
  for (int child = 0; child < 4; ++child) {
    const auto pid = fork();
    if (pid == 0) {
      bool good = true;
      for (int i = 0; i < 50; ++i) {
        const auto text = "text " + std::to_string(i);
        auto compiled = compiler->compile(request(text));
        good = good && compiled && compiled->image.bytes.ends_with(text);
      }
      _exit(good ? 0 : 1);
    }
    children.push_back(pid);
  }
  std::vector<std::thread> threads;
  std::atomic<int> bad = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        auto compiled = compiler->compile(request("text " + std::to_string(i)));
        if (!compiled || !compiled->image.bytes.ends_with("text " + std::to_string(i))) ++bad;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(bad == 0);
  for (const auto pid : children) {
    int status = -1;
    waitpid(pid, &status, 0);
    CHECK(status == 0);
  }
  CHECK(jit::describe().cached_kernels == 50);
}

TEST_CASE_FIXTURE(FakeScene, "a text that does not compile is E0702 with its lines") {
  auto compiler = Compiler::open();
  REQUIRE(compiler);
  auto compiled = compiler->compile(request("error"));
  REQUIRE_FALSE(compiled);
  CHECK(compiled.error().code == "E0702");
  const auto lines = jit::log_lines(compiled.error());
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].line == 2);
  CHECK(lines[0].message == "error: it says error");
  auto bad_option = request("text");
  bad_option.options = {"--bad"};
  CHECK(compiler->compile(bad_option).error().code == "E0702");
  CHECK_FALSE(fs::exists(cache.path() + "/kernels/" + "E0"));
}

TEST_CASE_FIXTURE(FakeScene, "a device that this NVRTC does not know is E0706") {
  auto compiler = Compiler::open();
  REQUIRE(compiler);
  for (const auto& [major, minor] : {std::pair{3, 5}, std::pair{8, 0}, std::pair{12, 0}}) {
    auto compiled = compiler->compile(request("text", {Target::Form::Cubin, major, minor}));
    REQUIRE_FALSE(compiled);
    CHECK(compiled.error().code == "E0706");
    CHECK_FALSE(compiled.error().hint.empty());
  }
  CHECK(compiler->compile(request("text", {Target::Form::Cubin, 8, 6}))->architecture == "sm_86");
}

TEST_CASE("no NVRTC, a file that is none, and one that is too old are E0701") {
  for (const char* path : {"/nonexistent/libnvrtc.so", "/bin/sh", GEXP_FAKE_OLD_NVRTC}) {
    const Folder cache;
    const Environment folder("GEXP_CACHE", cache.path());
    const Environment nvrtc("GEXP_NVRTC", path);
    auto compiler = Compiler::open();
    REQUIRE_FALSE(compiler);
    CHECK(compiler.error().code == "E0701");
    CHECK_FALSE(compiler.error().hint.empty());
    CHECK(jit::describe().problem->code == "E0701");
  }
}

TEST_CASE_FIXTURE(FakeScene, "describe says what was found") {
  auto compiler = Compiler::open();
  REQUIRE(compiler);
  REQUIRE(compiler->compile(request("text")));
  const auto description = jit::describe();
  CHECK_FALSE(description.problem.has_value());
  CHECK(description.version == "12.9.1");
  CHECK(description.cached_kernels == 1);
  CHECK(description.cached_bytes > 64);
  CHECK(description.cache_folder == cache.path());
}

TEST_CASE("a log is taken apart by its lines") {
  const auto lines = jit::parse_log(
      "a(b).cu(12): error: identifier \"x\" is undefined\n  p[x] = 1;\n    ^\n\n"
      "k.cu(2): warning #177-D: variable \"u\" was declared\nnot a (3): line\n2 errors detected\n");
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].line == 12);
  CHECK(lines[0].message == "error: identifier \"x\" is undefined");
  CHECK(lines[1].line == 2);
  CHECK(jit::parse_log("").empty());
}

TEST_CASE("the machine's own NVRTC compiles to PTX and to machine code") {
  const Folder cache;
  const Environment folder("GEXP_CACHE", cache.path());
  auto compiler = Compiler::open();
  if (!compiler) {
    MESSAGE("SKIPPED: no NVRTC");
    return;
  }
  const std::string source = "extern \"C\" __global__ void k(unsigned* p) { p[threadIdx.x] = p[p[0]]; }\n";
  auto ptx = compiler->compile(request(source));
  REQUIRE(ptx);
  CHECK(ptx->image.bytes.find(".visible .entry k(") != std::string::npos);
  CHECK(ptx->image.bytes.back() != '\0');
  const int newest = compiler->architectures().back();
  auto cubin = compiler->compile(request(source, {Target::Form::Cubin, newest / 10, newest % 10}));
  REQUIRE(cubin);
  CHECK(
      cubin->image.bytes.starts_with("\x7f"
                                     "ELF"));
  auto wrong = compiler->compile(request("\n\nextern \"C\" __global__ void k() { x = 1; }\n"));
  REQUIRE_FALSE(wrong);
  REQUIRE(jit::log_lines(wrong.error()).size() == 1);
  CHECK(jit::log_lines(wrong.error())[0].line == 3);
}
