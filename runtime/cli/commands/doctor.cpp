// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "runtime/cli/app.h"
#include "runtime/cli/command.h"
#include "runtime/cuda/cuda.h"
#include "runtime/jit/compiler.h"
#include "runtime/sim/sim.h"
#include "runtime/worker/confine.h"
#include "lang/base/units.h"
#include "runtime/cli/output.h"

namespace gexp::cli {
namespace {



int look() {
  int exit = kDone;
  const auto nvrtc = jit::describe();
  print_out("gexp {}\n\nNVRTC\n", GEXP_VERSION);
  if (nvrtc.problem) {
    print_out("  missing: {}\n  {}\n", nvrtc.problem->message, nvrtc.problem->hint);
    exit = kEnvironment;
  } else {
    print_out("  {} {}, for sm_{} to sm_{}\n", nvrtc.library, nvrtc.version, nvrtc.architectures.front(), nvrtc.architectures.back());
  }
  for (const auto& other : nvrtc.others) print_out("  also here: {} (GEXP_NVRTC chooses)\n", other);
  print_out("  kernel cache: {}\n\n", nvrtc.cache_usable ? fmt::format("{} ({} kernels, {})", nvrtc.cache_folder, nvrtc.cached_kernels,
                                                                        show(static_cast<double>(nvrtc.cached_bytes), kBytes))
                                                      : "none that can be written; every kernel is compiled anew");
  print_out("GPUs\n");
  auto gpus = cuda::devices();
  if (!gpus) {
    print_out("  none: {}\n  {}\n", gpus.error().message, gpus.error().hint);
  } else {
    for (const auto& gpu : *gpus) print_out("  {} {} (compute {}.{}, driver {})\n", gpu.id, gpu.name, gpu.compute_major, gpu.compute_minor, gpu.driver);
  }
  print_out("\nsimulated devices\n");
  for (const auto& name : sim::names()) {
    auto backend = sim::open(name);
    print_out("  sim:{}{}\n", name, backend ? "" : "  DOES NOT LOAD: " + backend.error().message);
    if (!backend) exit = kEnvironment;
  }
  fmt::print("\nsandbox of a run\n  {}\n", worker::confinement_here());
  const auto folder = experiments_folder();
  print_out("\nexperiments\n  {}\n", folder.empty() ? "the folder that ships was not found (GEXP_EXPERIMENTS names one)" : folder);
  return exit;
}


class Doctor final : public Command {
 public:
  void declare(Options&) override {}
  [[nodiscard]] std::optional<std::vector<std::string>> writes() const override { return std::nullopt; }
  int run() override { return look(); }
};

}  // namespace

std::unique_ptr<Command> new_doctor() { return std::make_unique<Doctor>(); }

}  // namespace gexp::cli
