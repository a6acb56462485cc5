// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdio>

#include "runtime/cli/command.h"
#include "runtime/cli/output.h"
#include "runtime/jit/compiler.h"

int main(int argc, char** argv) {
  gexp::cli::begin_output();
  const int code = gexp::cli::finish_output(gexp::cli::run_command_line(argc, argv));
  if (gexp::jit::Compiler::under_way() == 0) return code;
  // A compile that was given up cannot be ended, and NVRTC's exit handlers must not run beside it. All else is closed by now.
  std::fflush(nullptr);
  _exit(code);
}
