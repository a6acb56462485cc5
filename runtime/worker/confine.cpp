// SPDX-License-Identifier: Apache-2.0
// By plain system calls: the two interfaces are stable, and what is asked of them here is small. A kernel of Debian 12 has both.
#include "runtime/worker/confine.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace gexp::worker {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t kArchitecture = 0;  // no filter
#endif

// A sanitizer looks for leaks from a process of its own, at the end.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kProcesses = true;
#else
constexpr bool kProcesses = false;
#endif

constexpr std::uint64_t kTruncate = 1ull << 14;  // LANDLOCK_ACCESS_FS_TRUNCATE, since version 3; Debian 12's header has 2
constexpr std::uint64_t kRefer = 1ull << 13;     // LANDLOCK_ACCESS_FS_REFER, since version 2

int landlock_version() { return static_cast<int>(syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION)); }

/// All that changes files, as far as this kernel knows it.
std::uint64_t changes(int version) {
  std::uint64_t all = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
                      LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
                      LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM;
  if (version >= 2) all |= kRefer;
  if (version >= 3) all |= kTruncate;
  return all;
}

void restrict_files(const Confinement& to) {
  const int version = landlock_version();
  if (version < 1) return;
  const auto handled = changes(version) | (to.programs ? 0 : LANDLOCK_ACCESS_FS_EXECUTE);
  const landlock_ruleset_attr attributes{handled};
  const int rules = static_cast<int>(syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0));
  if (rules < 0) return;
  for (const auto& folder : to.writable) {
    const int at = open(folder.empty() ? "." : folder.c_str(), O_PATH | O_CLOEXEC);
    if (at < 0) continue;
    struct stat status = {};
    const bool is_folder = fstat(at, &status) == 0 && S_ISDIR(status.st_mode);
    const landlock_path_beneath_attr beneath{changes(version) & (is_folder ? ~0ull : LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate), at};
    syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0);
    close(at);
  }
  syscall(SYS_landlock_restrict_self, rules, 0);
  close(rules);
}

/// Refused with EPERM. What is not listed stays: NVRTC and the C library are free in what they need to compute.
constexpr std::uint32_t kRefused[] = {
    SYS_execve, SYS_execveat, SYS_socket, SYS_connect, SYS_bind, SYS_listen, SYS_accept, SYS_accept4, SYS_process_vm_readv, SYS_process_vm_writev,
    SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_setns, SYS_unshare, SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_kexec_load, SYS_bpf,
    SYS_perf_event_open, SYS_userfaultfd, SYS_keyctl, SYS_add_key, SYS_request_key, SYS_io_uring_setup, SYS_swapon, SYS_reboot, SYS_open_by_handle_at,
#ifdef SYS_fork
    SYS_fork, SYS_vfork,
#endif
};

void refuse_calls() {
  if (kArchitecture == 0) return;
  std::vector<sock_filter> filter;
  const auto load = [&](std::size_t at) { filter.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(at))); };
  const auto answer = [&](std::uint32_t what) { filter.push_back(BPF_STMT(BPF_RET | BPF_K, what)); };
  const std::uint32_t refused = SECCOMP_RET_ERRNO | EPERM, missing = SECCOMP_RET_ERRNO | ENOSYS;
  load(offsetof(seccomp_data, arch));
  filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0));
  answer(refused);
  load(offsetof(seccomp_data, nr));
  for (const auto call : kRefused) {
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1));
    answer(refused);
  }
  if (!kProcesses) {
    // Threads are started by clone; the flags of clone3 lie in memory, where a filter cannot look, and the C library does without it.
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1));
    answer(missing);
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3));
    load(offsetof(seccomp_data, args[0]));
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0));
    answer(refused);
  }
  answer(SECCOMP_RET_ALLOW);
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

bool is_off() {
  const char* set = std::getenv("GEXP_SANDBOX");
  return set && std::string_view(set) == "off";
}

}  // namespace

void confine(const Confinement& to) {
  if (is_off()) return;
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return;
  restrict_files(to);
  if (!to.programs) refuse_calls();
}

std::string confinement_here() {
  if (is_off()) return "none: GEXP_SANDBOX=off";
  std::string all;
  if (const int version = landlock_version(); version >= 1) all = fmt::format("Landlock (version {})", version);
  const std::uint32_t action = SECCOMP_RET_ERRNO;
  if (kArchitecture != 0 && syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0) all += all.empty() ? "seccomp" : ", seccomp";
  return all.empty() ? "none: this kernel has neither Landlock nor seccomp" : all;
}

}  // namespace gexp::worker
