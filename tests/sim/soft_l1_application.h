// SPDX-License-Identifier: Apache-2.0
#pragma once
// The kernels of one CUDA text as they stand and with the software cache: on a simulated device, and in tests/gpu on a real one.
#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include "ptx/flow.h"
#include "ptx/registers.h"
#include "ptx/soft_l1.h"
#include "runtime/jit/compiler.h"
#include "runtime/jit/locate.h"
#include "tests/sim/support.h"

namespace sim_test {

inline constexpr std::uint32_t kGrid = 2, kBlock = 64, kThreads = kGrid * kBlock;
inline constexpr std::uint32_t kShared = 16 << 10;  // bytes that lines may take of a multiprocessor

inline bool no_nvrtc() { return gexp::jit::locate_nvrtc().path.empty(); }

inline std::string text_of_application(const std::string& file) {
  std::stringstream text;
  text << std::ifstream(std::string(GEXP_SOURCE_DIR) + "/experiments/soft_l1/" + file).rdbuf();
  return text.str();
}

/// What the tests of this program run on.
std::unique_ptr<gexp::device::Backend> open_device_of_applications();

class Application {
 public:
  explicit Application(const std::string& source) {
    auto compiler = gexp::jit::Compiler::open();
    if (!compiler) FAIL(compiler.error().message);
    gexp::jit::Request request;
    request.source = source, request.name = "application.cu", request.entry = "any", request.options = {"--define-macro=LEVEL=cg"};
    auto compiled = compiler->compile(request);
    if (!compiled) FAIL(compiled.error().message);
    ptx_ = compiled->image.bytes;
  }

  Device& device() { return device_; }
  std::uint64_t memory(std::uint64_t bytes) {
    const auto address = device_.allocate(bytes, 256);
    bytes_[address] = bytes;
    device_.write(address, std::vector<std::uint8_t>(bytes));
    return address;
  }
  /// `cached`: with a cache of lines of so many bytes; 0: without.
  void run(const std::string& kernel, const std::vector<Argument>& arguments, std::uint32_t cached = 0, std::uint32_t shared = 0,
           std::uint32_t monitor = 8) {
    std::string entry, text = ptx_;
    for (const auto& each : gexp::jit::ptx_entries(ptx_)) {
      if (gexp::jit::short_name(each.name) == kernel) entry = each.name;
    }
    REQUIRE(!entry.empty());
    if (cached > 0) {
      gexp::ptx::SoftL1 o;
      o.line = cached, o.threads = kBlock, o.monitor = monitor, o.sm.shared = kShared, o.smem = taken;
      std::vector<std::uint64_t> known;  // one memory behind two parameters is one structure
      for (const auto& argument : arguments) {
        o.structures.emplace_back();
        if (argument.size != 8) continue;
        const auto at = std::find(known.begin(), known.end(), argument.bits);
        o.structures.back() = static_cast<std::size_t>(at - known.begin());
        if (at != known.end()) continue;
        known.push_back(argument.bits);
        o.bytes.push_back(bytes_.at(argument.bits));
      }
      auto made = gexp::ptx::soft_l1(text, entry, o);
      if (!made) FAIL(made.error().message);
      REQUIRE_MESSAGE(made->loops > 0, made->why);
      text = made->text;
    }
    registers_ = registers_of(text, entry);
    LaunchShape shape;
    shape.grid = kGrid, shape.block = kBlock, shape.shared_bytes = shared;
    const Outcome outcome = device_.launch(device_.load(text, entry), arguments, shape);
    REQUIRE_MESSAGE(outcome.done(), outcome.what);
  }

  std::uint64_t taken = 0;  ///< bytes of shared memory of a block in which no lines may lie

  /// The kernels as they stand.
  [[nodiscard]] const std::string& ptx() const { return ptx_; }
  /// Of a thread of the kernel that ran last, about.
  [[nodiscard]] std::uint32_t registers() const { return registers_; }

 private:
  static std::uint32_t registers_of(const std::string& text, const std::string& entry) {
    auto module = gexp::ptx::parse(text, entry);
    if (!module) FAIL(module.error().message);
    auto* const kernel = module->kernel(entry);
    gexp::ptx::flatten(*module, *kernel);
    return gexp::ptx::registers_needed(*kernel);
  }

  std::uint32_t registers_ = 0;
  std::string ptx_;
  Device device_{open_device_of_applications()};
  std::map<std::uint64_t, std::uint64_t> bytes_;
};

/// Bytes of a line, 0 for none.
inline constexpr std::uint32_t kForms[] = {0, 8, 16, 24, 32};

}  // namespace sim_test
