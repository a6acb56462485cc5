// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "ptx/tree.h"
#include "runtime/sim/ptx_parse.h"
#include "runtime/sim/sim.h"

/// A simulated device with the few steps a test needs.
namespace sim_test {

using gexp::device::Argument;
using gexp::device::LaunchShape;
using gexp::device::Outcome;

inline std::string module_of(const std::string& parameters, const std::string& body, const std::string& variables = {}) {
  return fmt::format(".version 7.8\n.target sm_35\n.address_size 64\n{}\n.visible .entry k({})\n{{\n{}\n}}\n", variables, parameters, body);
}

inline bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// What is wrong with a module whose kernel is k.
inline std::string refusal_of(const std::string& text) {
  const auto kernel = gexp::sim::parse_ptx(text, "k");
  if (kernel) return "accepted";
  CHECK(kernel.error().code == "E0801");
  return kernel.error().message;
}

/// The model with a piece of its text replaced.
inline gexp::Source edited(const std::string& model, const std::string& from, const std::string& to) {
  const auto source = gexp::sim::read_model(model);
  REQUIRE(source.ok());
  std::string text = source->text();
  const std::size_t at = text.find(from);
  REQUIRE_MESSAGE(at != std::string::npos, from);
  return gexp::Source(model + ".toml", text.replace(at, from.size(), to));
}

class Device {
 public:
  explicit Device(const std::string& model, std::uint64_t seed = 0) : Device(*gexp::sim::read_model(model), seed) {}
  explicit Device(const gexp::Source& model, std::uint64_t seed = 0) {
    auto opened = gexp::sim::open(model, "sim:test", {seed});
    if (!opened) FAIL(gexp::render(opened.error(), &model));
    backend_ = std::move(*opened);
  }
  explicit Device(std::unique_ptr<gexp::device::Backend> backend) : backend_(std::move(backend)) {}

  gexp::device::Backend& backend() { return *backend_; }
  /// Runs what the tree of the text prints, so every kernel of these tests holds the printer too.
  gexp::device::KernelId load(const std::string& text, const std::string& entry = "k") {
    const auto tree = gexp::ptx::parse(text);
    if (!tree) FAIL(tree.error().message);
    const std::string printed = gexp::ptx::print(*tree);
    const auto again = gexp::ptx::parse(printed);
    REQUIRE_MESSAGE((again.ok() && *again == *tree), printed);
    auto id = backend_->load({gexp::device::Target::Form::Ptx, printed, entry});
    if (!id) FAIL(id.error().message);
    return *id;
  }
  std::uint64_t allocate(std::uint64_t bytes, std::uint64_t align = 0) {
    auto address = backend_->allocate(bytes, align);
    if (!address) FAIL(address.error().message);
    return *address;
  }
  template <class T> std::vector<T> read(std::uint64_t address, std::size_t count) {
    std::vector<T> values(count);
    REQUIRE(backend_->read(address, std::as_writable_bytes(std::span(values))).ok());
    return values;
  }
  template <class T> void write(std::uint64_t address, const std::vector<T>& values) {
    REQUIRE(backend_->write(address, std::as_bytes(std::span(values))).ok());
  }
  Outcome launch(gexp::device::KernelId kernel, const std::vector<Argument>& arguments, LaunchShape shape = {}, double limit = 60) {
    return backend_->launch(kernel, shape, arguments, limit);
  }
  /// Loads, launches and returns the first `count` words of a fresh output array, given as the kernel's only argument.
  std::vector<std::uint64_t> run(const std::string& body, std::size_t count, LaunchShape shape = {}, const std::string& variables = {}) {
    const std::uint64_t out = allocate(count * 8);
    const Outcome outcome = launch(load(module_of(".param .u64 out", body, variables)), {{out, 8}}, shape);
    REQUIRE_MESSAGE(outcome.done(), outcome.what);
    auto values = read<std::uint64_t>(out, count);
    backend_->release(out);
    return values;
  }

 private:
  std::unique_ptr<gexp::device::Backend> backend_;
};

/// One thread walks byte offsets through an array; ticks of each step (load and one add between two clocks) of the last launch.
class Walker {
 public:
  Walker(Device& device, std::uint64_t bytes, const std::string& load) : device_(device), base_(device.allocate(bytes)) {
    kernel_ = device.load(module_of(".param .u64 base, .param .u64 first, .param .u32 lead, .param .u32 steps, .param .u64 out", fmt::format(R"(
      .reg .pred %p<4>; .reg .b32 %r<20>; .reg .b64 %rd<20>;
      ld.param.u64 %rd1, [base]; ld.param.u64 %rd2, [first]; ld.param.u32 %r1, [lead]; ld.param.u32 %r2, [steps]; ld.param.u64 %rd3, [out];
      mov.u32 %r3, trace;
      add.s64 %rd4, %rd1, %rd2;
      mov.u32 %r4, 0;
      add.u32 %r9, %r1, %r2;
    LOOP:
      setp.ge.u32 %p1, %r4, %r9;
      @%p1 bra DONE;
      mov.u32 %r5, %clock;
      {} %rd5, [%rd4];
      add.s64 %rd4, %rd1, %rd5;
      mov.u32 %r6, %clock;
      sub.s32 %r7, %r6, %r5;
      add.s32 %r4, %r4, 1;
      setp.le.u32 %p2, %r4, %r1;
      @%p2 bra LOOP;
      st.shared.u32 [%r3], %r7;
      add.s32 %r3, %r3, 4;
      bra LOOP;
    DONE:
      mov.u32 %r4, 0;
      mov.u32 %r3, trace;
    COPY:
      setp.ge.u32 %p1, %r4, %r2;
      @%p1 bra END;
      ld.shared.u32 %r7, [%r3];
      st.global.u32 [%rd3], %r7;
      add.s64 %rd3, %rd3, 4;
      add.s32 %r3, %r3, 4;
      add.s32 %r4, %r4, 1;
      bra COPY;
    END:
      ret;)", load), ".extern .shared .align 4 .b8 trace[];"));
  }

  /// Latency of each of `steps` steps after `lead` unrecorded ones, the walk repeating `offsets`. `overhead`: clock and add.
  std::vector<int> latencies(const std::vector<std::int64_t>& offsets, std::uint32_t lead, std::uint32_t steps, int overhead) {
    std::vector<std::uint64_t> links;
    for (std::size_t i = 0; i < offsets.size(); ++i) links.push_back(static_cast<std::uint64_t>(offsets[(i + 1) % offsets.size()]));
    REQUIRE(device_.backend().scatter(base_, offsets, links, 8).ok());
    const std::uint64_t out = device_.allocate(steps * 4);
    const Outcome outcome = device_.launch(kernel_, {{base_, 8}, {static_cast<std::uint64_t>(offsets[0]), 8}, {lead, 4}, {steps, 4}, {out, 8}},
                                           LaunchShape{.shared_bytes = steps * 4});
    REQUIRE_MESSAGE(outcome.done(), outcome.what);
    std::vector<int> result;
    for (const std::uint32_t tick : device_.read<std::uint32_t>(out, steps)) result.push_back(static_cast<int>(tick) - overhead);
    device_.backend().release(out);
    return result;
  }

 private:
  Device& device_;
  std::uint64_t base_;
  gexp::device::KernelId kernel_;
};

inline std::vector<std::int64_t> ring(std::int64_t bytes, std::int64_t stride) {
  std::vector<std::int64_t> offsets;
  for (std::int64_t at = 0; at < bytes; at += stride) offsets.push_back(at);
  return offsets;
}

}  // namespace sim_test
