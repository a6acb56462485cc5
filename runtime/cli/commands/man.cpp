// SPDX-License-Identifier: Apache-2.0
// The manual page, made of what the commands declare.
#include <fmt/format.h>

#include "runtime/cli/app.h"
#include "runtime/cli/command.h"
#include "runtime/cli/output.h"

namespace gexp::cli {
namespace {

/// roff reads a backslash, a dash, and a dot or quote at the beginning of a line.
std::string roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') out += "\\e";
    else if (c == '-') out += "\\-";
    else out += c;
  }
  return out.starts_with('.') || out.starts_with('\'') ? "\\&" + out : out;
}

std::string synopsis(const std::string& name, const Options& options) {
  auto text = fmt::format("\\fBgexp {}\\fR", roff(name));
  bool optional = false;
  for (const auto& option : options.all()) {
    if (!option.is_argument()) {
      optional = true;
      continue;
    }
    const auto shown = fmt::format("\\fI{}\\fR{}", roff(option.name), option.is_list() ? " ..." : "");
    text += option.required ? " " + shown : fmt::format(" [{}]", shown);
  }
  return text + (optional ? " [\\fIoptions\\fR]" : "");
}

std::string described(const Option& option) {
  auto head = fmt::format("\\fB{}\\fR", roff(option.names(", ")));
  if (option.is_argument()) head = fmt::format("\\fI{}\\fR", roff(option.name));
  else if (!option.is_flag()) head += " \\fIvalue\\fR";
  return fmt::format(".TP\n{}\n{}\n", head, roff(option.help));
}

constexpr const char* kEnd = R"(.SH EXIT STATUS
.TP
0
the run came to its end, and every expectation held or was not judged here
.TP
1
an expectation failed or could not be judged, a stage lacked a finding that it needs, or what was compared differs
.TP
2
the experiment or the command line is wrong, or cannot be read
.TP
3
the environment: no NVRTC, no such device, a result that cannot be read or written
.TP
4
a fault or a timeout of the device, or the time was used up
.TP
130
interrupted
.SH ENVIRONMENT
.TP
GEXP_STORE
the file that keeps results, or none
.TP
GEXP_EXPERIMENTS
folder of the experiments that ship
.TP
GEXP_NVRTC, CUDA_PATH, CUDA_HOME
where to find NVRTC
.TP
GEXP_CACHE, XDG_CACHE_HOME
where compiled kernels are kept
.TP
NO_COLOR, COLUMNS
colours and width of the output
)";

std::string page() {
  auto out = fmt::format(".\\\" Made by `gexp man`.\n.TH GEXP 1 \"\" \"gexp {}\" \"User Commands\"\n.SH NAME\n", GEXP_VERSION);
  const std::string what = kWhatItIs;
  out += fmt::format("gexp \\- {}\n.SH SYNOPSIS\n\\fBgexp\\fR \\fIcommand\\fR [\\fIoptions\\fR]\n", roff(what.substr(what.find(": ") + 2)));
  out += ".SH DESCRIPTION\nAn experiment is a text: an access pattern, a memory space, a launch shape, what to record, what to infer.\n"
         "gexp compiles it to CUDA, runs it on a GPU or a simulated GPU, and says what the records show, each finding with its confidence.\n";
  std::string group;
  for (const auto& row : listed_commands()) {
    if (row.group != group) {
      group = row.group;
      std::string heading = group;
      for (auto& c : heading) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
      out += fmt::format(".SH {}\n", heading);
    }
    out += fmt::format(".SS {}\n{}\n", synopsis(row.name, row.options), roff(row.help));
    for (const auto& option : row.options.all()) out += described(option);
  }
  return out + kEnd;
}

class Man final : public Command {
 public:
  void declare(Options&) override {}
  int run() override {
    print_out("{}", page());
    return kDone;
  }
};

}  // namespace

std::unique_ptr<Command> new_man() { return std::make_unique<Man>(); }

}  // namespace gexp::cli
