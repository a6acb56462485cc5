// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/tree.h"
#include "runtime/sim/ptx_decode.h"
#include "runtime/sim/ptx_names.h"

/// How ptx_parse.cpp and ptx_parse_items.cpp decode one kernel between them.
namespace gexp::sim {

/// One kernel on its way from the tree of its module. The first thing that does not fit is kept.
class Reader {
 public:
  Reader(const ptx::Module& module, std::string_view entry) : module_(module), entry_(entry) {}

  Result<Kernel> run();

 private:
  struct Branch {
    std::size_t instruction;
    ptx::Token label;
  };
  struct Labels {
    std::map<std::string, std::uint32_t, std::less<>> places;
    std::map<std::string, const ptx::BranchTargets*, std::less<>> tables;
    std::vector<Branch> branches;
    std::vector<Branch> targets;  ///< of a table: the place in Kernel::lists
  };

  void fail(std::uint32_t line, std::string message) {
    if (!failed_) failed_ = ptx::ptx_error(line, std::move(message));
  }
  void function(const ptx::Function& f);
  void kernel(const ptx::Function& f);
  void called(const std::string& name);
  std::vector<Passed> formals(const std::vector<ptx::Declaration>& list);
  void body(const ptx::Function& f, Kind end);
  void open_scope();
  void close_scope();
  void close_labels();

  void item(const ptx::Item& item);
  void instruction(const ptx::Statement& statement);
  void registers(const ptx::Registers& r);
  void variable(const ptx::Declaration& d);
  bool initial_values(const ptx::Declaration& d);
  std::uint32_t opcode_index(std::string_view text);
  void branch_table(Instruction& i, const ptx::Token& name);

  const ptx::Module& module_;
  std::string_view entry_;
  bool found_ = false;
  std::uint32_t last_line_ = 0;
  std::optional<Diagnostic> failed_;
  Names names_;
  Kernel kernel_;
  std::map<std::string, std::uint32_t, std::less<>> opcodes_;
  std::vector<Labels> labels_;
  std::map<std::string, const ptx::Function*, std::less<>> functions_;
  std::vector<std::uint8_t> initial_;
  std::vector<Relocation> relocations_;
};

}  // namespace gexp::sim
