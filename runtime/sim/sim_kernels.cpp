// SPDX-License-Identifier: Apache-2.0
#include "ptx/tree.h"
#include "runtime/sim/ptx_parse.h"
#include "runtime/sim/sim.h"

// What a PTX text has for callers, before any device is there.
namespace gexp::sim {

std::vector<std::string> kernels_in(const std::string& text) { return ptx::kernel_names(text); }

Result<KernelFacts> kernel_facts(const std::string& ptx, const std::string& name) {
  const auto kernel = parse_ptx(ptx, name);
  if (!kernel) return kernel.error();
  KernelFacts facts{name, {}};
  for (const Parameter& p : kernel->parameters) facts.parameters.push_back({p.bytes, is_float(p.type)});
  return facts;
}

}  // namespace gexp::sim
