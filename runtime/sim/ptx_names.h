// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/sim/ptx.h"

namespace gexp::sim {

/// Local memory of one thread that a device has at most, bytes.
inline constexpr std::uint64_t kMostLocal = 512 << 10;

/// What the names of one kernel stand for, by scope. Every register, constant and fixed special register gets a slot.
class Names {
 public:
  struct Register {
    std::uint32_t slot = 0;
    Type type = Type::None;
  };
  struct Variable {
    Space space = Space::Shared;
    std::uint32_t slot = 0;      ///< holds the variable's address in its space
    std::uint32_t bytes = 0;     ///< Frame
    std::optional<std::uint32_t> global;  ///< index, of a module variable
  };

  Names();
  void open_scope() { scopes_.emplace_back(); }
  void close_scope() { scopes_.pop_back(); }

  void declare_register(std::string name, Type type);
  /// `.v2 .u32 x`: x.x and x.y.
  void declare_vector(const std::string& name, std::size_t count, Type type);
  /// `%r<9>`: %r0 … %r8, made when first used.
  void declare_registers(std::string prefix, std::uint32_t count, Type type);
  void declare_parameter(std::string name, std::uint64_t bytes, std::uint64_t align, Type type);
  void declare_shared(std::string name, std::uint64_t bytes, std::uint64_t align);
  /// `extern .shared x[]`: begins where the static variables end.
  void declare_dynamic_shared(std::string name);
  /// In the thread's local memory; `space` Frame: a .param variable of a body.
  void declare_local(std::string name, std::uint64_t bytes, std::uint64_t align, Space space = Space::Local);
  void declare_global(std::string name, Space space, GlobalVariable variable);

  [[nodiscard]] std::optional<Register> find_register(std::string_view name);
  [[nodiscard]] const Variable* find_variable(std::string_view name) const;
  /// The slot of a special register whose value is fixed over a launch (%tid.x, %laneid, …).
  [[nodiscard]] std::optional<std::uint32_t> find_fixed(std::string_view name);
  [[nodiscard]] std::uint32_t constant(std::uint64_t value);
  [[nodiscard]] std::uint32_t temporary() { return own(slots_++); }
  /// The registers of a vector register, or of none.
  [[nodiscard]] std::vector<std::string_view> find_vector(std::string_view name) const;
  /// The thread's condition code.
  [[nodiscard]] std::uint32_t carry() { return carry_ != 0 ? carry_ : carry_ = slots_++; }
  /// What says that each cp.async so far is done.
  [[nodiscard]] std::vector<std::uint32_t>& copies() { return copies_; }

  /// A name that stands for a function from here on; its index. The first use makes it one of `functions_used`.
  void declare_function(std::string name) { functions_.try_emplace(std::move(name), std::nullopt); }
  [[nodiscard]] std::optional<std::uint32_t> find_function(std::string_view name);
  [[nodiscard]] const std::vector<std::string>& functions_used() const { return used_; }
  /// What is declared in between is the function's own.
  void begin_function(Function& function) { open_scope(), function_ = &function; }
  void end_function() { close_scope(), function_ = nullptr; }
  [[nodiscard]] bool in_function() const { return function_ != nullptr; }

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
    std::map<std::string, std::size_t, std::less<>> vectors;  ///< elements
  };
  void declare_variable(std::string name, Variable variable) { scopes_.back().variables[std::move(name)] = variable; }
  std::uint32_t preset(Preset::What what, std::uint64_t value);
  [[nodiscard]] std::optional<std::uint32_t> find_reserved(std::string_view name);
  /// A slot that a function must keep over a call of itself.
  std::uint32_t own(std::uint32_t slot) {
    if (function_) function_->slots.push_back(slot);
    return slot;
  }

  std::vector<Scope> scopes_;
  std::uint32_t slots_ = 1;  // slot 0 is kTrue
  std::map<std::uint64_t, std::uint32_t> constants_;
  std::map<std::string, std::uint32_t, std::less<>> fixed_;
  std::vector<Preset> presets_;
  std::vector<Parameter> parameters_;
  std::vector<GlobalVariable> globals_;
  std::map<std::string, std::optional<std::uint32_t>, std::less<>> functions_;
  std::vector<std::string> used_;
  std::vector<std::uint32_t> copies_;
  Function* function_ = nullptr;
  std::uint32_t carry_ = 0;
  std::optional<std::uint32_t> grid_;  ///< index of the variable at which the blocks of a grid meet
  std::uint64_t parameter_bytes_ = 0, shared_bytes_ = 0, local_bytes_ = 0;
};

}  // namespace gexp::sim
