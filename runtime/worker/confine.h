// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

namespace gexp::worker {

/// What a thread that has read a stranger's file still may do to the rest of the machine. Reading files and using what is open already
/// always stays.
struct Confinement {
  std::vector<std::string> writable;  ///< folders in which files may be made, changed and removed; those that do not exist count for nothing
  bool programs = false;              ///< may start programs and open sockets, as NVIDIA's driver does
};

/// Confines this thread, and those that it starts from now on, for good: Landlock for files, a seccomp filter for programs, sockets and
/// what only administrators need, no core dump. Whatever of it this kernel lacks is left out. GEXP_SANDBOX=off leaves all of it out.
void confine(const Confinement& to);

/// What of it this kernel has: "Landlock (version 3), seccomp"; "none: …".
std::string confinement_here();

}  // namespace gexp::worker
