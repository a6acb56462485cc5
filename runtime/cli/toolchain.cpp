// SPDX-License-Identifier: Apache-2.0
#include "runtime/cli/toolchain.h"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <vector>

#include "lang/base/sha256.h"
#include "runtime/cli/app.h"

namespace gexp::cli {
namespace {

constexpr std::size_t kAligned = 4;  // of the parts of a note

std::size_t padded(std::size_t bytes) { return (bytes + kAligned - 1) / kAligned * kAligned; }

/// The linker's hash of what it wrote (ld --build-id), from the notes of the program, which the system lists first.
int find_build_id(dl_phdr_info* program, std::size_t, void* id) {
  for (int i = 0; i < program->dlpi_phnum; ++i) {
    const auto& part = program->dlpi_phdr[i];
    if (part.p_type != PT_NOTE) continue;
    const auto* at = reinterpret_cast<const char*>(program->dlpi_addr + part.p_vaddr);
    for (const auto* end = at + part.p_memsz; at + sizeof(ElfW(Nhdr)) <= end;) {
      ElfW(Nhdr) note;
      std::memcpy(&note, at, sizeof note);
      const auto* name = at + sizeof note;
      const auto* bytes = name + padded(note.n_namesz);
      if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0)
        static_cast<std::string*>(id)->assign(bytes, note.n_descsz);
      at = bytes + padded(note.n_descsz);
    }
  }
  return 1;  // the others are libraries
}

std::string build_id() {
  std::string id;
  dl_iterate_phdr(find_build_id, &id);
  if (!id.empty()) return sha256_hex(id);
  const auto program = read_file("/proc/self/exe");
  return program ? sha256_hex(*program) : "";
}

}  // namespace

std::string toolchain(const std::string& templates) {
  Sha256 all;
  static const std::string build = build_id();
  all.add_field(build);
  if (templates.empty()) return all.hex();
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(templates, error)) {
    if (entry.is_regular_file(error)) files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  for (const auto& file : files) {
    const auto text = read_file(file);
    all.add_field(std::filesystem::path(file).filename().string()).add_field(text ? *text : "");
  }
  return all.hex();
}

}  // namespace gexp::cli
