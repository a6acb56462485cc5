// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/needs.h"

#include <fmt/format.h>

namespace gexp::compiler {

bool needs_looking_at(const Op& op) {
  const bool of_its_own = op.kind == Op::Kind::Alu || op.kind == Op::Kind::Atomic || op.kind == Op::Kind::Fence || op.kind == Op::Kind::Discard || op.kind == Op::Kind::Drain;
  return of_its_own || !op.hint.empty() || op.fetch || op.rank || !op.level.empty() || !op.into.empty() || op.via > Via::Tex;
}

namespace {

struct Device {
  std::string name = "the device";
  int compute = 0;  ///< times ten
};

std::optional<Device> device_of(const Program& program) {
  const auto* facts = program.device.get<Fields>();
  if (!facts) return std::nullopt;
  const auto known = facts->find("compute");
  const auto* has = known == facts->end() ? nullptr : known->second.get<Number>();
  if (!has) return std::nullopt;
  Device device;
  device.compute = static_cast<int>(has->number);
  if (const auto* name = facts->contains("name") ? facts->at("name").get<std::string>() : nullptr) device.name = *name;
  return device;
}

std::string version(int number) { return fmt::format("{}.{}", number / 10, number % 10); }

}  // namespace

std::optional<Diagnostic> device_is_newer(const Program& program, const std::string& what, int compute, Span span) {
  const auto device = device_of(program);
  if (!device || device->compute <= compute) return std::nullopt;
  auto problem = failure("E0501", fmt::format("`{}` is in compute capability {} alone, and {} has {}", what, version(compute), device->name, version(device->compute)),
                         fmt::format("leave it out there: `skip device.compute != {} why \"…\"`", compute));
  problem.span = span;
  return problem;
}

std::optional<Diagnostic> device_lacks(const Program& program, const std::string& what, int compute, int nvrtc, Span span, std::string hint) {
  const auto device = device_of(program);
  if (!device) return std::nullopt;
  Diagnostic problem;
  if (device->compute < compute) {
    problem = failure("E0501", fmt::format("`{}` needs compute capability {}, and {} has {}", what, version(compute), device->name, version(device->compute)),
                      hint.empty() ? fmt::format("leave it out there: `skip device.compute < {} why \"…\"`", compute) : std::move(hint));
  } else if (program.nvrtc > 0 && program.nvrtc < nvrtc) {
    problem = failure("E0501", fmt::format("`{}` needs NVRTC {}, and this one is {}", what, version(nvrtc), version(program.nvrtc)), "install a newer CUDA toolkit");
  } else {
    return std::nullopt;
  }
  problem.span = span;
  return problem;
}

}  // namespace gexp::compiler
