// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdlib>
#include <new>
#include <sstream>

#include "lang/base/budget.h"
#include "runtime/cli/app.h"
#include "runtime/cli/command.h"
#include "runtime/cli/output.h"
#include "runtime/cli/sandbox.h"

namespace gexp::cli {
namespace {

template <typename T>
CLI::Option* bind(CLI::App& app, const Option& option, T* target) {
  return app.add_option(option.names(","), *target, option.help);
}

CLI::Option* bind(CLI::App& app, const Option& option, bool* target) {
  return app.add_flag(option.names(","), *target, option.help);
}

/// An argument takes all the words that follow; an option one each time, or a list in one word.
CLI::Option* bind(CLI::App& app, const Option& option, std::vector<std::string>* target) {
  auto* made = app.add_option(option.names(","), *target, option.help);
  if (option.is_argument()) return made;
  if (!option.words.empty()) return made->delimiter(',');
  return made->take_all()->expected(1)->allow_extra_args(false);
}

/// A variable stands in for a text that is not given.
void take_variable(const Option& option) {
  const char* named = option.environment.empty() ? nullptr : std::getenv(option.environment.c_str());
  auto* const* text = std::get_if<std::string*>(&option.target);
  if (named && text) **text = named;
}

void add(CLI::App& app, const Option& option) {
  take_variable(option);
  auto* made = std::visit([&](auto* target) { return bind(app, option, target); }, option.target);
  if (option.required) made->required();
  if (option.check) made->check(option.check);
  if (option.offered != Offers::Nothing && option.offered != Offers::Experiments && std::holds_alternative<std::string*>(option.target)) {
    made->check([](const std::string& given) { return given.empty() ? std::string("a name is wanted, and this is empty") : std::string(); });
  }
  if (option.range) made->check(CLI::Range(option.range->first, option.range->second));
  if (!option.words.empty()) made->check(CLI::IsMember(option.words));
  if (option.default_shown) made->capture_default_str();
  for (const auto& other : option.excluded) made->excludes(app.get_option(other));
}

/// A command, and what CLI11 knows of it.
struct Declared {
  std::unique_ptr<Command> command;
  CLI::App* app = nullptr;
};

Declared declare(CLI::App& root, const CommandRow& row) {
  auto* parent = &root;
  auto name = row.name;
  if (const auto space = name.find(' '); space != std::string::npos) {
    parent = root.get_subcommand(name.substr(0, space));
    name = name.substr(space + 1);
  }
  Declared declared{row.make(), parent->add_subcommand(name, row.help)};
  declared.app->group(parent == &root ? row.group : "Parts");
  Options options;
  declared.command->declare(options);
  for (const auto& option : options.all()) add(*declared.app, option);
  declared.app->callback([command = declared.command.get()] {
    if (const auto wrong = command->misuse(); !wrong.empty()) throw CLI::ValidationError(wrong);
  });
  return declared;
}

/// What stands before the name of a part counts for the part: `gexp results --store x.db prune`.
void hand_down(const CLI::App& command, CLI::App& part) {
  for (const auto* option : command.get_options([](const CLI::Option* each) { return each->count() > 0; })) {
    auto* own = part.get_option_no_throw(option->get_name());
    if (!own) throw CLI::ValidationError(fmt::format("{} is no option of gexp {} {}", option->get_name(), command.get_name(), part.get_name()));
    if (own->count() > 0) continue;
    for (const auto& text : option->results()) own->add_result(text);
    own->run_callback();
  }
}

/// GEXP_MEMORY_LIMIT, in MiB; 0: it says nothing.
std::uint64_t memory_limit() {
  const char* set = std::getenv("GEXP_MEMORY_LIMIT");
  return set ? std::strtoull(set, nullptr, 10) << 20 : 0;
}

/// The innermost command that was named. CLI::ParseError.
Command& chosen(const std::vector<Declared>& all) {
  for (auto each = all.rbegin(); each != all.rend(); ++each) {  // a part comes behind its command, and both were named
    if (!*each->app) continue;
    if (const auto* parent = each->app->get_parent(); parent->get_parent()) hand_down(*parent, *each->app);
    return *each->command;
  }
  throw CLI::RequiredError("A command");
}

/// Every exception ends here, as an exit code.
int run_guarded(Command& command) {
  try {
    if (const auto paths = command.writes()) confine_to(*paths);
    return command.run();
  } catch (const std::bad_alloc&) {
    return refuse(failure("E0713", "there is not enough memory on this machine", "end other programs, or measure less"), nullptr, kEnvironment);
  } catch (const std::exception& problem) {
    report_bug(problem.what());
  } catch (...) {
    report_bug("an exception of no known kind");
  }
  return kBug;
}

}  // namespace

int run_command_line(int argc, char** argv) {
  CLI::App root{kWhatItIs};
  root.set_version_flag("--version", std::string("gexp ") + GEXP_VERSION);
  root.require_subcommand(1);
  std::vector<Declared> all;
  for (const auto& row : commands()) all.push_back(declare(root, row));
  Command* command = nullptr;
  try {
    root.parse(argc, argv);
    command = &chosen(all);
  } catch (const CLI::ParseError& problem) {
    std::ostringstream out, err;
    const int code = root.exit(problem, out, err);
    write_out(out.str());
    write_err(err.str());
    return code == 0 ? kDone : kSpec;
  }
  const Budget budget({.memory = memory_limit(), .interrupted = interrupted});
  const Budget::Use use(budget);
  return run_guarded(*command);
}

}  // namespace gexp::cli
