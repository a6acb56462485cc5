// SPDX-License-Identifier: Apache-2.0
// Completions of the shells, made of what the commands declare.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runtime/cli/app.h"
#include "runtime/cli/command.h"
#include "runtime/cli/output.h"

namespace gexp::cli {
namespace {

/// The words behind the first: "name", "prune" of `results`.
std::vector<std::string> parts_of(const std::string& command) {
  std::vector<std::string> parts;
  for (const auto& row : commands()) {
    if (row.name.starts_with(command + " ")) parts.push_back(row.name.substr(command.size() + 1));
  }
  return parts;
}

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

/// What bash's `compgen` offers for an option's value or an argument.
std::string bash_offer(const Option& option) {
  if (!option.words.empty()) return fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$cur\"))", fmt::join(option.words, " "));
  switch (option.offered) {
    case Offers::Experiments: return "_gexp_words experiments; _gexp_files";
    case Offers::Devices: return "_gexp_words devices";
    case Offers::Results: return "_gexp_words results; _gexp_files";
    case Offers::Folders: return "COMPREPLY=($(compgen -d -- \"$cur\"))";
    case Offers::Files: return "_gexp_files";
    case Offers::Nothing: break;
  }
  return ":";
}

constexpr const char* kBashHead = R"~(# gexp's completions for bash: `source <(gexp completions bash)`, or save this where bash reads completions.
_gexp_words() {
  local IFS=$'\n'
  COMPREPLY+=($(compgen -W "$("${COMP_WORDS[0]}" words "$1" 2>/dev/null)" -- "$cur"))
}
_gexp_files() {
  local IFS=$'\n'
  compopt -o filenames 2>/dev/null
  COMPREPLY+=($(compgen -f -- "$cur"))
}
_gexp() {
  local cur command i
  COMPREPLY=()
  # A device's name holds a colon, at which bash parts words.
  if declare -F _get_comp_words_by_ref >/dev/null; then
    local words cword
    _get_comp_words_by_ref -n : cur words cword
  else
    local words=("${COMP_WORDS[@]}") cword=$COMP_CWORD
    cur=${COMP_WORDS[COMP_CWORD]}
  fi
  local prev=${words[cword - 1]}
  command=
  for ((i = 1; i < cword; i++)); do
    case "$command ${words[i]}" in
)~";
constexpr const char* kBashTail = R"~(  declare -F __ltrim_colon_completions >/dev/null && __ltrim_colon_completions "$cur"
}
complete -F _gexp gexp
)~";

std::string bash() {
  const auto rows = listed_commands();
  std::string out = kBashHead;
  for (const auto& row : rows) {
    const auto space = row.name.find(' ');
    if (space == std::string::npos) out += fmt::format("      ' {}') command='{}' ;;\n", row.name, row.name);
    else out += fmt::format("      '{}') command='{}' ;;\n", row.name, row.name);
  }
  out += "    esac\n  done\n  case \"$command\" in\n    '')\n";
  std::vector<std::string> first;
  for (const auto& row : rows) {
    if (row.name.find(' ') == std::string::npos) first.push_back(row.name);
  }
  out += fmt::format("      COMPREPLY=($(compgen -W '{} --help --version' -- \"$cur\")) ;;\n", fmt::join(first, " "));
  for (const auto& row : rows) {
    std::vector<std::string> offered = parts_of(row.name);
    out += fmt::format("    '{}')\n      case \"$prev\" in\n", row.name);
    std::string argument = ":";
    for (const auto& option : row.options.all()) {
      if (option.is_argument()) {
        if (argument == ":") argument = bash_offer(option);
        continue;
      }
      offered.push_back(option.name);
      if (!option.is_flag()) out += fmt::format("        {}) {} ;;\n", option.names("|"), bash_offer(option));
    }
    offered.push_back("--help");
    out += fmt::format("        *)\n          if [[ $cur == -* ]]; then COMPREPLY=($(compgen -W '{0}' -- \"$cur\"))\n", fmt::join(offered, " "));
    const auto parts = parts_of(row.name);
    if (!parts.empty()) argument = fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$cur\"))", fmt::join(parts, " "));
    out += fmt::format("          else {}\n          fi ;;\n      esac ;;\n", argument);
  }
  return out + "  esac\n" + kBashTail;
}

/// What zsh's `_arguments` does for a value; empty: nothing is offered.
std::string zsh_action(const Option& option) {
  if (!option.words.empty()) return fmt::format("({})", fmt::join(option.words, " "));
  switch (option.offered) {
    case Offers::Experiments: return "_gexp_experiments";
    case Offers::Devices: return "_gexp_devices";
    case Offers::Results: return "_gexp_results";
    case Offers::Folders: return "_files -/";
    case Offers::Files: return "_files";
    case Offers::Nothing: break;
  }
  return " ";
}

/// zsh reads brackets and colons in a description.
std::string zsh_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    if (c == '\'') out += "'\\''";
    else out += c;
  }
  return out;
}

constexpr const char* kZshHead = R"~(#compdef gexp
# gexp's completions for zsh: save this as _gexp in a folder of $fpath.
_gexp_words() { local -a all; all=("${(@f)$(gexp words $1 2>/dev/null)}"); compadd -a all }
_gexp_experiments() { _gexp_words experiments; _files -g '*.gexp' }
_gexp_devices() { _gexp_words devices }
_gexp_results() { _gexp_words results; _files }
)~";

std::string zsh_function(const std::string& name) {
  auto function = "_gexp_" + name;
  for (auto& c : function) c = c == ' ' ? '_' : c;
  return function + "_command";
}

std::string zsh_arguments(const ListedCommand& row) {
  std::string out;
  int number = 0;
  for (const auto& option : row.options.all()) {
    const auto help = zsh_text(option.help);
    if (option.is_argument()) {
      const auto which = option.is_list() ? std::string("*") : std::to_string(++number);
      out += fmt::format(" \\\n    '{}:{}:{}'", which, zsh_text(option.name), zsh_action(option));
    } else if (option.is_flag()) {
      out += fmt::format(" \\\n    '{}[{}]'", option.name, help);
    } else {
      for (const auto& name : {option.letter, option.name}) {
        if (!name.empty()) out += fmt::format(" \\\n    '{}{}[{}]:value:{}'", option.is_list() ? "*" : "", name, help, zsh_action(option));
      }
    }
  }
  return out + " \\\n    '--help[print this command'\\''s options]'";
}

std::string zsh_choice(const std::vector<ListedCommand>& rows, const std::string& above) {
  const auto depth = above.empty() ? std::string() : above + " ";
  std::string names, calls;
  for (const auto& row : rows) {
    if (!row.name.starts_with(depth) || row.name.size() == depth.size() || row.name.find(' ', depth.size()) != std::string::npos) continue;
    const auto word = row.name.substr(depth.size());
    names += fmt::format("    '{}:{}'\n", word, zsh_text(row.help));
    calls += fmt::format("    {}) {} ;;\n", word, zsh_function(row.name));
  }
  return fmt::format("  local -a parts; parts=(\n{0}  )\n"
                     "  if (( CURRENT == 2 )); then _describe 'command' parts{1}\n  else\n"
                     "    local part=$words[2]; shift words; (( CURRENT-- ))\n    case $part in\n{2}    esac\n  fi\n",
                     names, above.empty() ? "" : "; " + zsh_function(above) + "_own", calls);
}

std::string zsh() {
  const auto rows = listed_commands();
  std::string out = kZshHead;
  for (const auto& row : rows) {
    const bool parts = !parts_of(row.name).empty();
    out += fmt::format("{}{}() {{\n  _arguments{}\n}}\n", zsh_function(row.name), parts ? "_own" : "", zsh_arguments(row));
    if (parts) out += fmt::format("{}() {{\n{}}}\n", zsh_function(row.name), zsh_choice(rows, row.name));
  }
  return out + "_gexp() {\n" + zsh_choice(rows, "") + "}\nif [[ $funcstack[1] == _gexp ]]; then _gexp \"$@\"; else compdef _gexp gexp; fi\n";
}

std::string fish_offer(const Option& option) {
  if (!option.words.empty()) return fmt::format(" -x -a '{}'", fmt::join(option.words, " "));
  switch (option.offered) {
    case Offers::Experiments: return " -F -a '(gexp words experiments 2>/dev/null)'";
    case Offers::Devices: return " -x -a '(gexp words devices 2>/dev/null)'";
    case Offers::Results: return " -F -a '(gexp words results 2>/dev/null)'";
    case Offers::Folders: return " -x -a '(__fish_complete_directories)'";
    case Offers::Files: return " -r -F";
    case Offers::Nothing: break;
  }
  return " -x";
}

/// Where a command's options are offered: behind its words, and not behind those of its parts.
std::string fish_place(const std::string& name) {
  const auto space = name.find(' ');
  if (space != std::string::npos) {
    return fmt::format("__fish_seen_subcommand_from {}; and __fish_seen_subcommand_from {}", name.substr(0, space), name.substr(space + 1));
  }
  const auto parts = parts_of(name);
  if (parts.empty()) return fmt::format("__fish_seen_subcommand_from {}", name);
  return fmt::format("__fish_seen_subcommand_from {}; and not __fish_seen_subcommand_from {}", name, fmt::join(parts, " "));
}

std::string fish() {
  std::string out = "# gexp's completions for fish: `gexp completions fish | source`, or save this as gexp.fish.\ncomplete -c gexp -f\n";
  for (const auto& row : listed_commands()) {
    const auto space = row.name.find(' ');
    const auto place = space == std::string::npos ? std::string("__fish_use_subcommand") : fish_place(row.name.substr(0, space));
    const auto word = space == std::string::npos ? row.name : row.name.substr(space + 1);
    out += fmt::format("complete -c gexp -n {} -a {} -d {}\n", quoted(place), word, quoted(row.help));
    for (const auto& option : row.options.all()) {
      const auto here = quoted(fish_place(row.name));
      if (option.is_argument()) out += fmt::format("complete -c gexp -n {}{}\n", here, fish_offer(option));
      else if (option.name.starts_with("--")) {
        const auto letter = option.letter.empty() ? "" : " -s " + option.letter.substr(1);
        out += fmt::format("complete -c gexp -n {}{} -l {}{} -d {}\n", here, letter, option.name.substr(2),
                           option.is_flag() ? "" : fish_offer(option), quoted(option.help));
      }
      else out += fmt::format("complete -c gexp -n {} -s {}{} -d {}\n", here, option.name.substr(1), fish_offer(option), quoted(option.help));
    }
  }
  return out;
}

class Completions final : public Command {
 public:
  void declare(Options& options) override {
    options.add("shell", &shell_, "bash, zsh or fish").must_be_given().offers_words({"bash", "zsh", "fish"});
  }
  int run() override {
    print_out("{}", shell_ == "bash" ? bash() : shell_ == "zsh" ? zsh() : fish());
    return kDone;
  }

 private:
  std::string shell_;
};

}  // namespace

std::unique_ptr<Command> new_completions() { return std::make_unique<Completions>(); }

}  // namespace gexp::cli
