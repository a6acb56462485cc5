// SPDX-License-Identifier: Apache-2.0
// Runs ZLUDA's kernels on a simulated device and compares what they write, bit by bit, with what ZLUDA expects:
// test_zluda FOLDER KNOWN [NAME]. FOLDER has mod.rs and a .ptx file a kernel; KNOWN lists those that are refused, with the reason.
#include <fmt/format.h>

#include <cstring>

#include "runtime/sim/sim.h"
#include "tests/known_cases.h"
#include "tests/zluda/rust_cases.h"

using namespace gexp;

namespace {

struct Verdict {
  enum class Kind { Exact, Refused, Wrong } kind = Kind::Exact;
  std::string why;
};

std::string hex(const std::vector<std::byte>& bytes) {
  std::string text;
  for (std::size_t k = 0; k < std::min<std::size_t>(bytes.size(), 32); ++k) text += fmt::format("{:02x}{}", bytes[k], k % 4 == 3 ? " " : "");
  return text;
}

Verdict run(const zluda::Case& c, const std::string& folder) {
  const auto device = sim::open("gtx980");
  device::Backend& backend = **device;
  const auto kernel = backend.load({device::Target::Form::Ptx, test::read_file(folder + "/" + c.name + ".ptx"), c.name});
  if (!kernel) return {Verdict::Kind::Refused, kernel.error().message};
  // Some write more than they are asked for; a GPU's allocator deals in pages, and they never notice.
  constexpr std::uint64_t kPage = 64 << 10;
  const std::uint64_t out = *backend.allocate(std::max<std::uint64_t>(c.output.size(), kPage), 256);
  std::uint64_t in = out;
  if (c.input) {
    in = *backend.allocate(c.input->size(), 256);
    (void)backend.write(in, *c.input);
  }
  // Those of a warp may take the output alone; what is too many is refused by the launch.
  std::vector<device::Argument> arguments{device::pointer(in), device::pointer(out)};
  const device::LaunchShape shape{.grid = 1, .block = c.threads, .shared_bytes = 1024};
  device::Outcome outcome = backend.launch(*kernel, shape, arguments, 20);
  if (!outcome.done() && !c.input) arguments.pop_back(), outcome = backend.launch(*kernel, shape, arguments, 20);
  if (!outcome.done()) return {Verdict::Kind::Wrong, outcome.what};
  std::vector<std::byte> got(c.output.size());
  (void)backend.read(out, got);
  if (got == c.output) return {};
  return {Verdict::Kind::Wrong, fmt::format("expected {}, found {}", hex(c.output), hex(got))};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return fmt::print(stderr, "test_zluda FOLDER KNOWN [NAME]\n"), 2;
  const std::string folder = argv[1];
  std::string why;
  const auto cases = zluda::read_cases(test::read_file(folder + "/mod.rs"), why);
  if (!cases || cases->empty()) return fmt::print(stderr, "{}/mod.rs: {}\n", folder, cases ? "no cases" : why), 1;
  auto known = test::known_cases(argv[2]);
  std::size_t exact = 0, refused = 0, wrong = 0, unexpected = 0;
  for (const zluda::Case& c : *cases) {
    if (argc > 3 && c.name != argv[3]) continue;
    const Verdict verdict = run(c, folder);
    const bool listed = known.erase(c.name) > 0;
    exact += verdict.kind == Verdict::Kind::Exact;
    refused += verdict.kind == Verdict::Kind::Refused;
    wrong += verdict.kind == Verdict::Kind::Wrong;
    if (verdict.kind == Verdict::Kind::Exact && !listed) continue;
    const char* const word = verdict.kind == Verdict::Kind::Exact ? "exact" : verdict.kind == Verdict::Kind::Refused ? "refused" : "wrong";
    fmt::print("{:<8} {:<40} {}{}\n", word, c.name, verdict.why, listed ? " (listed)" : "");
    unexpected += !listed || verdict.kind == Verdict::Kind::Exact;
  }
  fmt::print("{} kernels: {} exact, {} refused, {} wrong\n", exact + refused + wrong, exact, refused, wrong);
  if (argc == 3) {
    for (const auto& [name, reason] : known) fmt::print("listed, but no case: {} ({})\n", name, reason), ++unexpected;
  }
  return unexpected == 0 ? 0 : 1;
}
