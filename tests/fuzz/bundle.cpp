// SPDX-License-Identifier: Apache-2.0
// Any bytes, opened as a bundle: all that is in it is read. A bundle begins as a store of SQLite or is refused at once.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "lang/base/budget.h"
#include "runtime/result/result_json.h"
#include "runtime/store/store.h"

using namespace gexp;

namespace {

/// A regular file in memory, as a store has to be one.
struct File {
  std::string path = std::filesystem::is_directory("/dev/shm") ? "/dev/shm/gexp-bundle-XXXXXX" : std::filesystem::temp_directory_path().string() + "/gexp-bundle-XXXXXX";
  File() {
    const int made = mkstemp(path.data());
    GEXP_CHECK(made >= 0);
    close(made);
  }
  ~File() { std::filesystem::remove(path); }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Budget budget({.memory = std::uint64_t{512} << 20});  // what is read may unfold to half of it
  const Budget::Use use(budget);
  static const File file;
  std::ofstream(file.path, std::ios::trunc | std::ios::binary).write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  auto store = store::Store::open(file.path, store::Store::Mode::Read);
  if (!store) return 0;
  const auto all = store->list();
  if (!all) return 0;
  for (const auto& entry : *all) {
    if (const auto result = store->read(entry.id)) {
      GEXP_CHECK(!result::to_json(*result).empty());
      (void)store->model(result->device.model_sha256);
    }
    (void)store->kernels(entry.id);
  }
  return 0;
}
