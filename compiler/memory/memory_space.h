// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "compiler/codegen/template.h"
#include "compiler/program.h"

namespace gexp::compiler {

/// What a kernel's text says of its memories before its operations.
struct MemoryTexts {
  std::string parameters;    ///< of the kernel, each after a comma
  std::string constants;     ///< arrays of the module
  std::string setup;         ///< first lines of the kernel
  std::uint64_t shared = 0;  ///< bytes of dynamic shared memory so far
  bool shared_cell = true;   ///< the rehearsal may not touch the shared memories themselves
};

/// Bytes of the idle cell of a space whose memories the kernel declares: it lies behind them, and the rehearsal uses it.
inline constexpr std::uint64_t kCellBytes = 16;

/// All that the compiler and the runtime know of a memory space. Each space is one object, in a file of its own in this folder; its
/// word, its size and what the documents say of it are its row in lang/memory_spaces.def.
struct MemorySpace {
  /// Who has the bytes of a memory: the host makes buffers on the device, in its own memory, in pages that move between both, and on
  /// another device; it fills arrays of a module. Blocks and threads fill their own.
  enum class Home { Device, Host, Managed, Peer, Module, Block, Thread };

  std::string_view word{};       ///< after `in`: "global"
  std::string_view ptx{};        ///< state space of its instructions: "global", "const"; empty: it is fetched by index
  Home home = Home::Device;
  Via path = Via::Default;       ///< of an access that names none
  bool chooses_path = false;     ///< `via` names the path of its loads
  bool stores = true;
  bool everywhere = true;        ///< false: a backend is asked whether its device has it (device::Requirement::Kind::Space)
  std::string_view idle_cell{};  ///< name in body.cu of the cell that the rehearsal uses
  bool cell_holds_links = true;  ///< the cell holds its own place, so that a chain of loads through it tells what a hit takes
  const KernelTemplate* lone_chase = nullptr;  ///< what a lone chase through it is made from, where that fits; null: body.cu
  std::string_view too_large{};  ///< E0424 of a memory of more bytes than the row allows, with a hole for how many these are
  std::string_view instead{};    ///< its hint

  /// Adds what declares a memory of so many bytes, a multiple of 16. Null: nothing does.
  void (*declare)(const Memory& memory, std::uint64_t bytes, MemoryTexts& texts) = nullptr;
  /// Adds what stands after the last declaration. Null: nothing does.
  void (*declared_all)(MemoryTexts& texts) = nullptr;

  /// Whether accesses are fetches by index, so that an address has no base.
  [[nodiscard]] bool by_index() const { return ptx.empty(); }
  /// Whether the kernel's threads write the links of chases themselves.
  [[nodiscard]] bool threads_write_links() const { return home == Home::Block || home == Home::Thread; }
  /// Whether the kernel is given a pointer to a buffer that the host has made.
  [[nodiscard]] bool by_pointer() const { return home <= Home::Peer && !by_index(); }
  /// Whether a memory takes some of the device's.
  [[nodiscard]] bool takes_device_memory() const { return home != Home::Block && home != Home::Host && home != Home::Peer; }
  /// Whether it takes some of the host's.
  [[nodiscard]] bool takes_host_memory() const { return home == Home::Host || home == Home::Managed; }
};

/// The space of a word that the checker has accepted.
const MemorySpace& memory_space(std::string_view word);

/// The words of the spaces that take stores, for hints: "global, shared or local".
std::string spaces_with_stores();

/// The objects: `global_space`, …
#define GEXP_MEMORY_SPACE(name, ...) const MemorySpace& name##_space();
#include "lang/memory_spaces.def"
#undef GEXP_MEMORY_SPACE

}  // namespace gexp::compiler
