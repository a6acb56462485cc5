// SPDX-License-Identifier: Apache-2.0
// A GPU that another process drives, on a stand-in for the driver: everything that ends a worker ends the worker alone.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <thread>

#include "runtime/cuda/cuda.h"
#include "runtime/worker/worker.h"
#include "tests/cuda/fake/fake_cuda.h"
#include "tests/jit/scene.h"

using namespace gexp;
using device::Backend;
using device::Outcome;
using tests::Environment;

namespace {

std::atomic<bool> interrupt{false};

struct Scene {
  Environment library{"GEXP_LIBCUDA", GEXP_FAKE_CUDA};
  Environment script{"FAKE_CUDA", "no_second_context"};
  Scene() { interrupt = false; }
};

worker::Options options() { return {{GEXP_BINARY_PATH, "worker", "0", fmt::format("{}", getpid())}, [] { return interrupt.load(); }, 0.2}; }

std::unique_ptr<Backend> device() {
  auto opened = worker::open(options());
  if (!opened) FAIL(opened.error().message);
  return std::move(*opened);
}

device::KernelId kernel_on(Backend& backend) {
  auto id = backend.load({device::Target::Form::Cubin, "image", "k"});
  REQUIRE(id);
  return *id;
}

Outcome launch(Backend& backend, device::KernelId kernel, std::uint32_t end, double limit = 5) {
  const device::Argument argument{end, 4};
  return backend.launch(kernel, {}, {&argument, 1}, limit);
}

/// Processes whose parent is this one, zombies too.
std::vector<pid_t> children() {
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "stat");
    std::string pid, name, state;
    pid_t parent = 0;
    if (file >> pid >> name >> state >> parent && parent == getpid()) found.push_back(std::stoi(pid));
  }
  return found;
}

double seconds_of(const std::function<void()>& what) {
  const auto start = std::chrono::steady_clock::now();
  what();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

TEST_CASE_FIXTURE(Scene, "a worker's device is the device") {
  const auto inline_device = cuda::open(0);
  REQUIRE(inline_device);
  const auto backend = device();
  CHECK(backend->device().name == (*inline_device)->device().name);
  CHECK(backend->device().uuid == (*inline_device)->device().uuid);
  CHECK(backend->device().shared_per_sm == (*inline_device)->device().shared_per_sm);
  CHECK(backend->device().ecc);
  CHECK(backend->target().major == 9);
  CHECK(backend->target().form == device::Target::Form::Cubin);
  auto refused = backend->accepts({device::Requirement::Kind::BankWidth, "", 8, {3, 9}});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == "E0501");
  CHECK(refused.error().span == Span{3, 9});
  CHECK(backend->accepts({device::Requirement::Kind::Threads, "", 1024, {}}));
  CHECK(children().size() == 1);
}

TEST_CASE_FIXTURE(Scene, "memory: copies of every size, links, errors") {
  const auto backend = device();
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{1000}, (std::size_t{1} << 20) + 1, (std::size_t{64} << 20) + 12345}) {
    auto address = backend->allocate(bytes, 4096);
    REQUIRE(address);
    CHECK(*address % 4096 == 0);
    std::vector<std::byte> out(bytes), in(bytes);
    for (std::size_t i = 0; i < bytes; ++i) out[i] = static_cast<std::byte>(i * 7 + i / 256);
    CHECK(backend->write(*address, out));
    CHECK(backend->read(*address, in));
    CHECK(in == out);
    backend->release(*address);
  }
  const auto address = *backend->allocate(4096, 0);
  const std::vector<std::int64_t> offsets = {0, 128, 64};
  const std::vector<std::uint64_t> values = {1, 2, std::uint64_t{1} << 40};
  CHECK(backend->scatter(address, offsets, values, 8));
  std::uint64_t word = 0;
  CHECK(backend->read(address + 64, std::as_writable_bytes(std::span(&word, 1))));
  CHECK(word == std::uint64_t{1} << 40);
  CHECK(backend->allocate(std::uint64_t{1} << 40).error().code == "E0802");
  CHECK(backend->write(1, std::as_bytes(std::span(&word, 1))).error().code == "E0803");
  auto bad = backend->load({device::Target::Form::Ptx, "bad", "k"});
  REQUIRE_FALSE(bad);
  CHECK(bad.error().code == "E0801");
  REQUIRE(bad.error().notes.size() == 1);
  CHECK(backend->losses() == 0);
}

TEST_CASE_FIXTURE(Scene, "a fault loses what was on the device; the next call has a new worker") {
  const auto backend = device();
  const auto kernel = kernel_on(*backend);
  CHECK(launch(*backend, kernel, 0).done());
  const auto before = children();
  const auto outcome = launch(*backend, kernel, 700);
  CHECK(outcome.status == Outcome::Status::Fault);
  CHECK(outcome.what.find("ILLEGAL_ADDRESS") != std::string::npos);
  CHECK(backend->losses() > 0);
  CHECK(backend->usable());
  CHECK(launch(*backend, kernel, 0).status == Outcome::Status::Fault);  // a kernel of the worker before
  CHECK(launch(*backend, kernel_on(*backend), 0).done());
  CHECK(children().size() == 1);
  CHECK(children() != before);
}

TEST_CASE_FIXTURE(Scene, "a kernel that never ends is a timeout, and its worker is gone") {
  const auto backend = device();
  const auto kernel = kernel_on(*backend);
  CHECK(launch(*backend, kernel, kFakeNeverEnds, 0.1).status == Outcome::Status::Timeout);
  CHECK(children().empty());
  CHECK(launch(*backend, kernel_on(*backend), 0).done());
}

TEST_CASE_FIXTURE(Scene, "a worker that hangs is killed after the launch's limit and the grace") {
  const auto backend = device();
  const auto kernel = kernel_on(*backend);
  kill(children().at(0), SIGSTOP);
  Outcome outcome;
  CHECK(seconds_of([&] { outcome = launch(*backend, kernel, 0, 0.1); }) < 2);
  CHECK(outcome.status == Outcome::Status::Timeout);
  CHECK(children().empty());
  CHECK(launch(*backend, kernel_on(*backend), 0).done());
}

TEST_CASE_FIXTURE(Scene, "a worker that is killed loses its launch; between launches, its call") {
  const auto backend = device();
  const auto kernel = kernel_on(*backend);
  std::thread killer([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    kill(children().at(0), SIGKILL);
  });
  const auto outcome = launch(*backend, kernel, kFakeNeverEnds, 30);
  killer.join();
  CHECK(outcome.status == Outcome::Status::Fault);
  CHECK(outcome.what.find("killed by signal 9") != std::string::npos);
  CHECK(backend->losses() == 1);
  CHECK(backend->allocate(64));
  kill(children().at(0), SIGKILL);
  CHECK(backend->allocate(64).error().code == "E0803");
  CHECK(backend->losses() == 2);
  CHECK(backend->allocate(64));
}

TEST_CASE_FIXTURE(Scene, "an interrupt ends a launch that never ends within half a second") {
  const auto backend = device();
  const auto kernel = kernel_on(*backend);
  std::thread ender([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    interrupt = true;
  });
  Outcome outcome;
  CHECK(seconds_of([&] { outcome = launch(*backend, kernel, kFakeNeverEnds, 30); }) < 0.7);
  ender.join();
  CHECK(outcome.status == Outcome::Status::Interrupted);
  CHECK(launch(*backend, kernel, 0).status == Outcome::Status::Interrupted);
  CHECK(backend->allocate(64).error().code == "E0803");  // no new worker is started for one who wants to end
  CHECK(children().empty());
}

TEST_CASE_FIXTURE(Scene, "no worker stays behind, and none that fails is started for ever") {
  { const auto backend = device(); }
  CHECK(children().empty());
  const Environment none("FAKE_CUDA", "empty");
  CHECK(worker::open(options()).error().code == "E0705");
  CHECK(children().empty());
  auto wrong = options();
  wrong.command[0] = "/nonexistent";
  CHECK(worker::open(wrong).error().code == "E0708");
  wrong.command[0] = "/bin/false";
  CHECK(worker::open(wrong).error().message.find("exit code 1") != std::string::npos);
  CHECK(children().empty());
}

TEST_CASE_FIXTURE(Scene, "a device that is gone after a fault is no longer usable") {
  const auto backend = device();
  const auto kernel = kernel_on(*backend);
  const Environment now("FAKE_CUDA", "empty");  // of the next worker
  kill(children().at(0), SIGKILL);
  CHECK(launch(*backend, kernel, 0).status == Outcome::Status::Fault);
  CHECK(backend->usable());
  CHECK(backend->allocate(64).error().message.find("a new worker could not open it") != std::string::npos);
  CHECK_FALSE(backend->usable());
}

/// Figures for docs/reference/running.md; the bound is far above them, for machines that do much else.
TEST_CASE_FIXTURE(Scene, "what a launch and a read cost more than without a worker") {
  const auto cost = [](Backend& backend) {
    const auto kernel = kernel_on(backend);
    constexpr int kLaunches = 2000;
    std::vector<std::byte> window(32 << 10), all(32 << 20);
    const auto address = *backend.allocate(all.size());
    const std::array<device::Argument, 1> arguments = {device::Argument{0, 4}};
    const double launch = seconds_of([&] { for (int i = 0; i < kLaunches; ++i) (void)backend.launch(kernel, {}, arguments, 5); }) / kLaunches;
    const double read = seconds_of([&] { for (int i = 0; i < kLaunches; ++i) CHECK(backend.read(address, window)); }) / kLaunches;
    CHECK(backend.read(address, all));
    const double large = seconds_of([&] { CHECK(backend.read(address, all)); });
    return std::array{launch * 1e6, read * 1e6, large * 1e3};
  };
  const auto here = cost(**cuda::open(0)), there = cost(*device());
  MESSAGE(fmt::format("here / by a worker: launch {:.2f} / {:.1f} us, read of 32 KiB {:.2f} / {:.1f} us, of 32 MiB {:.1f} / {:.1f} ms", here[0], there[0],
                      here[1], there[1], here[2], there[2]));
  CHECK(there[0] < 1000);
}
