// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>

#include "compiler/program.h"
#include "runtime/result/result.h"
#include "runtime/store/store.h"

namespace gexp::cli {

/// A result that was kept, with the program that its spec compiles to and its findings inferred again from the records.
struct Saved {
  compiler::Program program;
  result::RunResult result;
};

/// `reference`: a file that `run --out` wrote, a bundle, `FILE.db:7`, or a result of the store ("7", "last", a name). E09xx: it is none;
/// E0904: its spec does not compile, which is printed.
Result<Saved> read_saved(const std::string& reference, const std::string& store);

/// A reference by itself, or of a folder its .json files, by name. E0711: there are none.
Result<std::vector<std::string>> result_files(const std::string& reference);

/// A result in a store.
struct Kept {
  store::Store store;
  store::Entry entry;
};
/// A number or `last`: never a file; `./7` is one.
bool of_store(const std::string& reference);
/// Nothing where the reference is a JSON file.
Result<std::optional<Kept>> find_kept(const std::string& reference, const std::string& store);

/// The store or bundle that such a reference is read from, where SQLite's log of it lies beside it: reading that writes beside it. Else empty.
std::string written_by_reading(const std::string& reference, const std::string& store);

/// The text of a simulated device's model; empty where there is none here, or another than the device was made of.
std::string model_here(const device::DeviceInfo& device);

inline constexpr const char* kNoStore = "none";
/// The store that a command line names; empty: the default.
std::string store_path(const std::string& named);

}  // namespace gexp::cli
