// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/sim/ptx.h"

namespace gexp::sim {

/// What the names of one kernel stand for, by scope. Every register, constant and fixed special register gets a slot.
class Names {
 public:
  struct Register {
    std::uint32_t slot = 0;
    Type type = Type::None;
  };
  struct Variable {
    Space space = Space::Shared;
    std::uint32_t slot = 0;      ///< holds the variable's address in its space; for .param unused
    std::int64_t offset = 0;     ///< .param: in the parameter block
  };

  Names();
  void open_scope() { scopes_.emplace_back(); }
  void close_scope() { scopes_.pop_back(); }

  void declare_register(std::string name, Type type);
  /// `%r<9>`: %r0 … %r8, made when first used.
  void declare_registers(std::string prefix, std::uint32_t count, Type type);
  void declare_parameter(std::string name, std::uint64_t bytes, std::uint64_t align);
  void declare_shared(std::string name, std::uint64_t bytes, std::uint64_t align);
  /// `extern .shared x[]`: begins where the static variables end.
  void declare_dynamic_shared(std::string name);
  void declare_local(std::string name, std::uint64_t bytes, std::uint64_t align);
  void declare_global(std::string name, Space space, GlobalVariable variable);

  [[nodiscard]] std::optional<Register> find_register(std::string_view name);
  [[nodiscard]] const Variable* find_variable(std::string_view name) const;
  /// The slot of a special register whose value is fixed over a launch (%tid.x, %laneid, …).
  [[nodiscard]] std::optional<std::uint32_t> find_fixed(std::string_view name);
  [[nodiscard]] std::uint32_t constant(std::uint64_t value);
  [[nodiscard]] std::uint32_t temporary() { return slots_++; }

  /// Moves what was collected into the kernel: slots, presets, parameters, memory sizes. Says what is too large, if anything is.
  [[nodiscard]] const char* finish(Kernel& kernel);

 private:
  struct Family {
    std::uint32_t count = 0;
    Type type = Type::None;
  };
  struct Scope {
    std::map<std::string, Register, std::less<>> registers;
    std::map<std::string, Family, std::less<>> families;
    std::map<std::string, Variable, std::less<>> variables;
  };
  void declare_variable(std::string name, Variable variable) { scopes_.back().variables[std::move(name)] = variable; }
  std::uint32_t preset(Preset::What what, std::uint64_t value);

  std::vector<Scope> scopes_;
  std::uint32_t slots_ = 1;  // slot 0 is kTrue
  std::map<std::uint64_t, std::uint32_t> constants_;
  std::map<std::string, std::uint32_t, std::less<>> fixed_;
  std::vector<Preset> presets_;
  std::vector<Parameter> parameters_;
  std::vector<GlobalVariable> globals_;
  std::uint64_t parameter_bytes_ = 0, shared_bytes_ = 0, local_bytes_ = 0;
};

}  // namespace gexp::sim
