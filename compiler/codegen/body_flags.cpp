// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "compiler/codegen/body_writer.h"
#include "compiler/codegen/roles.h"

// Flags: counters in global memory, by which threads of one launch speak. Passes that only rehearse or calibrate run the same
// instructions on words that nobody waits for.
namespace gexp::compiler {

std::size_t BodyWriter::flag_of(const Op& op) const {
  GEXP_CHECK(place_.flags != nullptr);
  const auto found = std::find(place_.flags->begin(), place_.flags->end(), op.flag);
  GEXP_CHECK(found != place_.flags->end());
  return static_cast<std::size_t>(found - place_.flags->begin());
}

/// What the thread accessed before is done by then: a signal says so.
std::optional<Diagnostic> BodyWriter::signal(const Op& op, Region& region) {
  consume_loaded(region);
  line(settle_text("sum"));
  line("gexp_signal(control + (pass == 1 ? {} : 6));", kControlWords * (1 + flag_of(op)));
  return std::nullopt;
}

std::optional<Diagnostic> BodyWriter::wait(const Op& op, Region&) {
  std::string more = "1", most = fmt::format("{}ull", kWaitCycles);
  if (op.signals) {
    auto number = code_.whole_argument(*op.signals, 1, std::int64_t{1} << 31, "the number of signals");
    if (!number) return number.error();
    more = *number;
  }
  if (op.bound) {
    auto cycles = code_.whole_argument(*op.bound, 1, std::int64_t{1} << 40, "the time after which a wait is given up");
    if (!cycles) return cycles.error();
    most = "(u64)" + *cycles;
  }
  const auto flag = flag_of(op);
  line("if (pass == 1) waited{} += (u32){};", flag, more);
  line("if (!hung && !gexp_wait(control + (pass == 1 ? {} : 7), pass == 1 ? waited{} : 0u, {})) {{ hung = 1; atomicCAS(control + 5, 0u, {}u); }}",
       kControlWords * (1 + flag), flag, most, flag + 1);
  return std::nullopt;
}

}  // namespace gexp::compiler
