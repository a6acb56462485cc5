// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/needs.h"

#include <fmt/format.h>

namespace gexp::compiler {

bool needs_looking_at(const Op& op) {
  const bool of_its_own = op.kind == Op::Kind::Alu || op.kind == Op::Kind::Atomic || op.kind == Op::Kind::Fence || op.kind == Op::Kind::Discard || op.kind == Op::Kind::Drain;
  return of_its_own || !op.hint.empty() || op.fetch || op.rank || !op.level.empty() || !op.into.empty() || op.via > Via::Tex;
}

std::optional<Diagnostic> device_lacks(const Program& program, const std::string& what, int compute, int nvrtc, Span span, std::string hint) {
  const auto* facts = program.device.get<Fields>();
  if (!facts) return std::nullopt;
  const auto known = facts->find("compute");
  const auto* has = known == facts->end() ? nullptr : known->second.get<Number>();
  if (!has) return std::nullopt;
  const auto version = [](int number) { return fmt::format("{}.{}", number / 10, number % 10); };
  const auto* name = facts->contains("name") ? facts->at("name").get<std::string>() : nullptr;
  Diagnostic problem;
  if (has->number < compute) {
    problem = failure("E0501", fmt::format("`{}` needs compute capability {}, and {} has {}", what, version(compute), name ? *name : "the device",
                                           version(static_cast<int>(has->number))),
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
