// SPDX-License-Identifier: Apache-2.0
// Stands where libFuzzer's main does in builds without it: runs every file of the folders named, in order.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int argc, char** argv) {
  namespace fs = std::filesystem;
  constexpr double kSlow = 5;  // seconds of this process, as the fuzzers have it
  int slow = 0;
  std::size_t count = 0;
  for (int i = 1; i < argc; ++i) {
    std::vector<fs::path> files;
    if (!fs::exists(argv[i])) continue;  // no finding of that fuzzer is kept yet
    for (const auto& entry : fs::recursive_directory_iterator(argv[i])) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    for (const auto& path : files) {
      std::ifstream in(path, std::ios::binary);
      const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
      const auto start = std::clock();
      std::fprintf(stderr, "%s\n", path.c_str());  // the last one named is the one that crashed
      LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
      const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
      if (seconds > kSlow) {
        std::fprintf(stderr, "FAIL it took %.1f s\n", seconds);
        ++slow;
      }
      ++count;
    }
  }
  std::printf("%zu inputs, %d of them too slow\n", count, slow);
  return slow > 0 || count == 0 ? 1 : 0;
}
