// SPDX-License-Identifier: Apache-2.0
#include "runtime/jit/elf.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <vector>

namespace gexp::jit {
namespace {

bool read_at(int file, void* to, std::size_t bytes, std::uint64_t from) {
  return pread(file, to, bytes, static_cast<off_t>(from)) == static_cast<ssize_t>(bytes);
}

/// The first byte behind everything that the header and its tables name; 0: this is no ELF library of 64 bits.
std::uint64_t end_of(int file) {
  Elf64_Ehdr header{};
  if (!read_at(file, &header, sizeof header, 0) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_phentsize != sizeof(Elf64_Phdr))
    return 0;
  const auto behind = [](std::uint64_t at, std::uint64_t bytes) { return at > UINT64_MAX - bytes ? UINT64_MAX : at + bytes; };
  auto end = std::max(behind(header.e_phoff, std::uint64_t{header.e_phnum} * sizeof(Elf64_Phdr)), behind(header.e_shoff, std::uint64_t{header.e_shnum} * header.e_shentsize));
  std::vector<Elf64_Phdr> segments(header.e_phnum);
  if (!read_at(file, segments.data(), segments.size() * sizeof(Elf64_Phdr), header.e_phoff)) return end;
  for (const auto& segment : segments) {
    if (segment.p_type == PT_LOAD || segment.p_type == PT_DYNAMIC) end = std::max(end, behind(segment.p_offset, segment.p_filesz));
  }
  return end;
}

}  // namespace

std::string why_not_whole(const std::string& library) {
  const int file = open(library.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file < 0) return {};  // the loader says why
  struct stat info {};
  std::string why;
  if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode)) {
    why = "it is no file";
  } else if (const auto end = end_of(file); end == 0) {
    why = "it is no library of 64 bits";
  } else if (static_cast<std::uint64_t>(info.st_size) < end) {
    why = fmt::format("it is cut short: it has {} of {} bytes", info.st_size, end);
  }
  close(file);
  return why;
}

}  // namespace gexp::jit
