// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/ptx_functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "runtime/sim/ptx_decode.h"

namespace gexp::sim {
namespace {

// A thread's local memory can be as large as CUDA allows; of frames that recursion stacks nobody knows the number (CUDA's default: 1 KiB), nor
// how much alloca asks for.
constexpr std::uint64_t kRecursionBytes = 8 << 10;

/// Which functions each calls; an address that is called may be any of them.
std::vector<std::vector<std::uint32_t>> callees(const Kernel& kernel) {
  std::vector<std::vector<std::uint32_t>> of(kernel.functions.size());
  for (std::size_t f = 0; f < of.size(); ++f) {
    const std::size_t end = f + 1 < of.size() ? kernel.functions[f + 1].entry : kernel.code.size();
    for (std::size_t at = kernel.functions[f].entry; at < end; ++at) {
      if (kernel.code[at].kind != Kind::Call) continue;
      const std::uint32_t to = kernel.calls[kernel.code[at].list].function;
      if (to == Call::kPrint) continue;
      if (to != Call::kIndirect) of[f].push_back(to);
      else for (std::uint32_t any = 0; any < of.size(); ++any) of[f].push_back(any);
    }
  }
  return of;
}

/// The bytes of the deepest chain of frames that begins with each function; rounds that do not settle are recursion.
bool deepest(const Kernel& kernel, std::vector<std::uint64_t>& depth) {
  const auto calls = callees(kernel);
  for (std::size_t round = 0; round <= calls.size(); ++round) {
    bool changed = false;
    for (std::size_t f = 0; f < calls.size(); ++f) {
      std::uint64_t below = 0;
      for (const std::uint32_t to : calls[f]) below = std::max(below, depth[to]);
      const std::uint64_t all = std::min(kMostLocal + 1, below + (kernel.functions[f].frame_bytes + 15) / 16 * 16);
      changed |= all != depth[f];
      depth[f] = all;
    }
    if (!changed) return true;
  }
  return false;
}

}  // namespace

std::optional<Diagnostic> link_functions(Kernel& kernel) {
  for (const Instruction& i : kernel.code) {
    if (i.kind != Kind::Call || kernel.calls[i.list].function >= Call::kPrint) continue;
    const Call& call = kernel.calls[i.list];
    const Function& to = kernel.functions[call.function];
    if (call.arguments.size() == to.parameters.size() && call.results.size() == to.results.size()) continue;
    return ptx_error(i.line, fmt::format("'{}' takes {} arguments and gives {} results, not {} and {}", to.name, to.parameters.size(), to.results.size(),
                                         call.arguments.size(), call.results.size()));
  }
  kernel.stack_begin = (kernel.local_bytes + 15) / 16 * 16;
  std::vector<std::uint64_t> depth(kernel.functions.size(), 0);
  const bool settled = deepest(kernel, depth);
  std::uint64_t most = 0;
  for (const std::uint64_t bytes : depth) most = std::max(most, bytes);
  if (!settled) most = std::max(kRecursionBytes, std::min(most, kRecursionBytes));
  if (kernel.allocates) most += kRecursionBytes;
  if (most == 0) return std::nullopt;
  if (kernel.stack_begin + most > kMostLocal) return ptx_error(0, "the kernel has more local memory than a device");
  kernel.local_bytes = static_cast<std::uint32_t>(kernel.stack_begin + most);
  return std::nullopt;
}

}  // namespace gexp::sim
