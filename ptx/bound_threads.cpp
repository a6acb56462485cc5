// SPDX-License-Identifier: Apache-2.0
#include "ptx/bound_threads.h"

#include <fmt/format.h>

#include <algorithm>

namespace gexp::ptx {

bool bound_threads(Module& module, Function& kernel, std::uint32_t threads) {
  const auto bounds = [](const Token& word) { return word.is(".maxntid") || word.is(".reqntid") || word.is(".maxnreg"); };
  if (std::any_of(kernel.bounds.begin(), kernel.bounds.end(), bounds)) return false;
  kernel.bounds.push_back({Token::Kind::Word, ".maxntid", kernel.line});
  kernel.bounds.push_back({Token::Kind::Number, module.keep(fmt::format("{}", threads)), kernel.line});
  return true;
}

Result<std::string> bound_threads(std::string_view text, std::string_view entry, std::uint32_t threads) {
  auto module = parse(text);
  if (!module) return module.error();
  Function* const kernel = module->kernel(entry);
  if (!kernel) return ptx_error(1, fmt::format("the PTX text has no kernel '{}'", entry));
  if (kernel->wrong) return *kernel->wrong;
  return bound_threads(*module, *kernel, threads) ? print(*module) : std::string(text);
}

}  // namespace gexp::ptx
