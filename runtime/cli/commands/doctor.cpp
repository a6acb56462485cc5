// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "runtime/cli/app.h"
#include "runtime/cli/command.h"
#include "runtime/cuda/cuda.h"
#include "runtime/jit/compiler.h"
#include "runtime/sim/sim.h"
#include "lang/base/units.h"

namespace gexp::cli {
namespace {



int look() {
  int exit = kDone;
  const auto nvrtc = jit::describe();
  fmt::print("gexp {}\n\nNVRTC\n", GEXP_VERSION);
  if (nvrtc.problem) {
    fmt::print("  missing: {}\n  {}\n", nvrtc.problem->message, nvrtc.problem->hint);
    exit = kEnvironment;
  } else {
    fmt::print("  {} {}, for sm_{} to sm_{}\n", nvrtc.library, nvrtc.version, nvrtc.architectures.front(), nvrtc.architectures.back());
  }
  for (const auto& other : nvrtc.others) fmt::print("  also here: {} (GEXP_NVRTC chooses)\n", other);
  fmt::print("  kernel cache: {}\n\n", nvrtc.cache_usable ? fmt::format("{} ({} kernels, {})", nvrtc.cache_folder, nvrtc.cached_kernels,
                                                                        show(static_cast<double>(nvrtc.cached_bytes), kBytes))
                                                      : "none that can be written; every kernel is compiled anew");
  fmt::print("GPUs\n");
  auto gpus = cuda::devices();
  if (!gpus) {
    fmt::print("  none: {}\n  {}\n", gpus.error().message, gpus.error().hint);
  } else {
    for (const auto& gpu : *gpus) fmt::print("  {} {} (compute {}.{}, driver {})\n", gpu.id, gpu.name, gpu.compute_major, gpu.compute_minor, gpu.driver);
  }
  fmt::print("\nsimulated devices\n");
  for (const auto& name : sim::names()) {
    auto backend = sim::open(name);
    fmt::print("  sim:{}{}\n", name, backend ? "" : "  DOES NOT LOAD: " + backend.error().message);
    if (!backend) exit = kEnvironment;
  }
  const auto folder = experiments_folder();
  fmt::print("\nexperiments\n  {}\n", folder.empty() ? "the folder that ships was not found (GEXP_EXPERIMENTS names one)" : folder);
  return exit;
}


class Doctor final : public Command {
 public:
  void declare(Options&) override {}
  int run() override { return look(); }
};

}  // namespace

std::unique_ptr<Command> new_doctor() { return std::make_unique<Doctor>(); }

}  // namespace gexp::cli
