// SPDX-License-Identifier: Apache-2.0
// Reads gpuocelot's PTX, most of it of compilers from 2010, kernel by kernel: test_gpuocelot FOLDER KNOWN. What is refused and not in
// KNOWN fails, and so does a share of less than kShare.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "runtime/sim/sim.h"
#include "tests/known_cases.h"

using namespace gexp;

namespace {

constexpr double kShare = 0.95;

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return fmt::print(stderr, "test_gpuocelot FOLDER KNOWN\n"), 2;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[1])) {
    if (entry.path().extension() == ".ptx") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  const auto device = sim::open("h200");
  auto known = test::known_cases(argv[2]);
  std::size_t kernels = 0, read = 0, unexpected = 0;
  for (const auto& file : files) {
    const std::string text = test::read_file(file);
    for (const std::string& name : sim::kernels_in(text)) {
      ++kernels;
      const auto loaded = (*device)->load({device::Target::Form::Ptx, text, name});
      read += loaded.ok();
      if (loaded) continue;
      const bool expected = known.erase(file.filename().string() + " " + name) > 0;
      unexpected += !expected;
      fmt::print("{} {}: {}{}\n", file.filename().string(), name, loaded.error().message, expected ? " (listed)" : "");
    }
  }
  for (const auto& [name, reason] : known) fmt::print("{} is listed, but it can be read, or is not there\n", name);
  fmt::print("{} of {} kernels in {} files can be read\n", read, kernels, files.size());
  const bool enough = kernels > 0 && static_cast<double>(read) >= kShare * static_cast<double>(kernels);
  return enough && unexpected == 0 && known.empty() ? 0 : 1;
}
