// SPDX-License-Identifier: Apache-2.0
#include "ptx/bound_threads.h"

#include <algorithm>

namespace gexp::ptx {

bool bound_threads(Module& module, Function& kernel, std::uint32_t threads) {
  const auto bounds = [](const Token& word) { return word.is(".maxntid") || word.is(".reqntid") || word.is(".maxnreg"); };
  if (std::any_of(kernel.bounds.begin(), kernel.bounds.end(), bounds)) return false;
  module.bound(kernel, ".maxntid", threads);
  return true;
}

Result<std::string> bound_threads(std::string_view text, std::string_view entry, std::uint32_t threads) {
  auto module = parse(text);
  if (!module) return module.error();
  const auto kernel = module->readable(entry);
  if (!kernel) return kernel.error();
  return bound_threads(*module, **kernel, threads) ? print(*module) : std::string(text);
}

}  // namespace gexp::ptx
