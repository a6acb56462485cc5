// SPDX-License-Identifier: Apache-2.0
// The text of a kernel's file may ask NVRTC for files: by `#include`, which is refused before (lang/kernel_file.cpp), and by a
// `__has_include` that macros put together, which nobody sees in the text.
#include "runtime/jit/without_files.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <vector>

namespace gexp::jit {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kMachine = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kMachine = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t kMachine = 0;  // no filter
#endif

/// Those that take a path.
constexpr std::uint32_t kByPath[] = {
    SYS_openat, SYS_newfstatat, SYS_faccessat, SYS_readlinkat,
#ifdef SYS_openat2
    SYS_openat2,
#endif
#ifdef SYS_statx
    SYS_statx,
#endif
#ifdef SYS_faccessat2
    SYS_faccessat2,
#endif
#ifdef SYS_open
    SYS_open, SYS_stat, SYS_lstat, SYS_access, SYS_readlink, SYS_creat,
#endif
    SYS_execve, SYS_execveat,
};

void find_no_file() {
  const char* set = std::getenv("GEXP_SANDBOX");
  if (kMachine == 0 || (set && std::string_view(set) == "off")) return;
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return;
  std::vector<sock_filter> filter;
  const auto load = [&](std::size_t at) { filter.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(at))); };
  const auto answer = [&](std::uint32_t what) { filter.push_back(BPF_STMT(BPF_RET | BPF_K, what)); };
  const std::uint32_t not_there = SECCOMP_RET_ERRNO | ENOENT;
  load(offsetof(seccomp_data, arch));
  filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kMachine, 1, 0));
  answer(not_there);
  load(offsetof(seccomp_data, nr));
  for (const auto call : kByPath) {
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1));
    answer(not_there);
  }
  answer(SECCOMP_RET_ALLOW);
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

}  // namespace

void without_files(const std::function<void()>& work) {
  std::thread([&] {
    find_no_file();
    work();
  }).join();
}

}  // namespace gexp::jit
