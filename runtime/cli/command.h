// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

/// The commands of gexp. Each is a file of `commands/` and a row of `commands.def`. The command line, its help, the man page
/// and the shells' completions are all made of what a command declares here. Only `command_line.cpp` knows CLI11.
namespace gexp::cli {

/// What stands behind an option, so that a shell can offer it.
enum class Offers { Nothing, Experiments, Devices, Results, Files, Folders };

/// One option, flag or argument of a command.
class Option {
 public:
  /// Where its value goes. The type says what is accepted: a flag, text, texts, a whole number, a number.
  using Target = std::variant<bool*, std::string*, std::vector<std::string>*, std::uint64_t*, int*, double*,
                              std::optional<std::uint64_t>*, std::optional<double>*>;
  /// Says what is wrong with a text; empty: nothing.
  using Check = std::function<std::string(const std::string&)>;

  Option(std::string of_name, Target of_target, std::string of_help)
      : name(std::move(of_name)), target(of_target), help(std::move(of_help)) {}

  Option& must_be_given() { return required = true, *this; }
  /// A letter that stands for its name: "-o".
  Option& or_letter(std::string short_name) { return letter = std::move(short_name), *this; }
  Option& shows_default() { return default_shown = true, *this; }
  Option& excludes(std::string other) { return excluded.push_back(std::move(other)), *this; }
  Option& checked_by(Check by) { return check = std::move(by), *this; }
  Option& between(std::uint64_t least, std::uint64_t most) { return range = {least, most}, *this; }
  /// A list of these words, separated by commas.
  Option& list_of(std::vector<std::string> accepted) { return words = std::move(accepted), *this; }
  /// One of these words.
  Option& offers_words(std::vector<std::string> accepted) { return words = std::move(accepted), *this; }
  Option& offers(Offers what) { return offered = what, *this; }
  Option& from_variable(std::string variable) { return environment = std::move(variable), *this; }

  /// An argument has a name without dashes.
  [[nodiscard]] bool is_argument() const { return name.front() != '-'; }
  [[nodiscard]] bool is_flag() const { return std::holds_alternative<bool*>(target); }
  [[nodiscard]] bool is_list() const { return std::holds_alternative<std::vector<std::string>*>(target); }

  /// Both of its names with this between them, or its only one.
  [[nodiscard]] std::string names(const std::string& between) const { return letter.empty() ? name : letter + between + name; }

  std::string name;    ///< "--out", "-e", "file"
  std::string letter;  ///< "-o"; empty: none
  Target target;
  std::string help;
  bool required = false, default_shown = false;
  std::vector<std::string> excluded;  ///< names of options that cannot stand beside it
  std::vector<std::string> words;     ///< the only values, where there are any
  std::optional<std::pair<std::uint64_t, std::uint64_t>> range;
  Check check;
  Offers offered = Offers::Nothing;
  std::string environment;  ///< variable that stands in where it is not given
};

/// What a command takes, in the order of its help. References stay good.
class Options {
 public:
  Option& add(std::string name, Option::Target target, std::string help) {
    return all_.emplace_back(std::move(name), target, std::move(help));
  }
  [[nodiscard]] const std::deque<Option>& all() const { return all_; }

 private:
  std::deque<Option> all_;
};

class Command {
 public:
  Command() = default;
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;
  virtual ~Command() = default;
  /// Its options, which point into the command itself.
  virtual void declare(Options& options) = 0;
  /// What is wrong with the options together; empty: nothing.
  [[nodiscard]] virtual std::string misuse() const { return {}; }
  /// The files and folders that it writes, once its words are read: before it runs it is confined to them (sandbox.h). nullopt: it confines
  /// itself, when it has opened what it needs, or it must start programs; docs/security.md says which.
  [[nodiscard]] virtual std::optional<std::vector<std::string>> writes() const { return std::vector<std::string>{}; }
  /// Does it. An exit code.
  virtual int run() = 0;
};

/// A row of commands.def.
struct CommandRow {
  std::string name;   ///< "run"; "results name" is a part of `results`
  std::string group;  ///< heading in the help; empty: for gexp itself, not listed
  std::string help;
  std::function<std::unique_ptr<Command>()> make;
};
const std::vector<CommandRow>& commands();

/// A command as its reader sees it. The options' targets are gone: they are to be named, not set.
struct ListedCommand {
  std::string name, group, help;
  Options options;
};
/// All that the help lists, in its order.
std::vector<ListedCommand> listed_commands();

/// One line that says what gexp is.
inline constexpr const char* kWhatItIs = "gexp: an experiment compiler for GPU memory hierarchies";

/// Reads the words, runs the command that they name. An exit code.
int run_command_line(int argc, char** argv);

}  // namespace gexp::cli
