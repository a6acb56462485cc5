// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/ptx_names.h"

#include <charconv>

namespace gexp::sim {
namespace {

// What CUDA allows at most: 32764 B of parameters, 512 KB of local memory, far less shared memory than 16 MB.
constexpr std::uint64_t kMostParameters = 32764, kMostShared = 16 << 20;
constexpr std::uint64_t kDynamicAlign = 16;

std::uint64_t align_up(std::uint64_t value, std::uint64_t align) {
  if (align == 0) align = 1;
  return (value + align - 1) / align * align;
}

struct Fixed {
  std::string_view name;
  Preset::What what;
  std::uint64_t value;
};

using What = Preset::What;
constexpr Fixed kFixed[] = {
    {"%tid.x", What::Tid, 0}, {"%tid.y", What::Tid, 1}, {"%tid.z", What::Tid, 2},
    {"%ntid.x", What::Ntid, 0}, {"%ntid.y", What::Ntid, 1}, {"%ntid.z", What::Ntid, 2},
    {"%ctaid.x", What::Ctaid, 0}, {"%ctaid.y", What::Ctaid, 1}, {"%ctaid.z", What::Ctaid, 2},
    {"%nctaid.x", What::Nctaid, 0}, {"%nctaid.y", What::Nctaid, 1}, {"%nctaid.z", What::Nctaid, 2},
    {"%cluster_ctarank", What::ClusterRank, 0}, {"%cluster_nctarank", What::ClusterSize, 0}, {"%cluster_ctaid.x", What::ClusterRank, 0},
    {"%cluster_nctaid.x", What::ClusterSize, 0}, {"%cluster_ctaid.y", What::Value, 0}, {"%cluster_ctaid.z", What::Value, 0},
    {"%cluster_nctaid.y", What::Value, 1}, {"%cluster_nctaid.z", What::Value, 1}, {"%clusterid.x", What::Cluster, 0}, {"%nclusterid.x", What::Clusters, 0},
    {"%laneid", What::LaneId, 0}, {"%warpid", What::WarpId, 0}, {"%nwarpid", What::Value, 1},
    {"%smid", What::SmId, 0}, {"%nsmid", What::NSmId, 0}, {"%gridid", What::Value, 1},
    {"%lanemask_eq", What::LaneMask, 0}, {"%lanemask_lt", What::LaneMask, 1}, {"%lanemask_le", What::LaneMask, 2},
    {"%lanemask_gt", What::LaneMask, 3}, {"%lanemask_ge", What::LaneMask, 4},
    {"%dynamic_smem_size", What::SharedDynamic, 0}, {"%total_smem_size", What::SharedTotal, 0}, {"WARP_SZ", What::Value, 32},
};

}  // namespace

Names::Names() : scopes_(1) {}

void Names::declare_register(std::string name, Type type) { scopes_.back().registers[std::move(name)] = {own(slots_++), type}; }

void Names::declare_vector(const std::string& name, std::size_t count, Type type) {
  constexpr const char* kElements[] = {".x", ".y", ".z", ".w"};
  for (std::size_t k = 0; k < count; ++k) declare_register(name + kElements[k], type);
  scopes_.back().vectors[name] = count;
}

std::vector<std::string_view> Names::find_vector(std::string_view name) const {
  constexpr const char* kElements[] = {".x", ".y", ".z", ".w"};
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    const auto found = scope->vectors.find(name);
    if (found == scope->vectors.end()) continue;
    std::vector<std::string_view> names;
    for (std::size_t k = 0; k < found->second; ++k) names.push_back(scope->registers.find(found->first + kElements[k])->first);
    return names;
  }
  return {};
}

std::optional<std::uint32_t> Names::find_function(std::string_view name) {
  const auto found = functions_.find(name);
  if (found == functions_.end()) return std::nullopt;
  if (!found->second) {
    found->second = static_cast<std::uint32_t>(used_.size());
    used_.emplace_back(name);
  }
  return found->second;
}

void Names::declare_registers(std::string prefix, std::uint32_t count, Type type) {
  scopes_.back().families[std::move(prefix)] = {count, type};
}

void Names::declare_parameter(std::string name, std::uint64_t bytes, std::uint64_t align, Type type) {
  parameter_bytes_ = align_up(parameter_bytes_, align);
  declare_variable(std::move(name), {Space::Param, constant(parameter_bytes_), 0, {}});
  parameters_.push_back({static_cast<std::uint32_t>(parameter_bytes_), static_cast<std::uint32_t>(bytes), type});
  parameter_bytes_ += bytes;
}

void Names::declare_shared(std::string name, std::uint64_t bytes, std::uint64_t align) {
  shared_bytes_ = align_up(shared_bytes_, align);
  declare_variable(std::move(name), {Space::Shared, constant(shared_bytes_), 0, {}});
  shared_bytes_ += bytes;
}

void Names::declare_dynamic_shared(std::string name) {
  // Where the static variables end is known only at the end of the body: finish() fills the value in.
  declare_variable(std::move(name), {Space::Shared, preset(What::SharedDynamic, 1), 0, {}});
}

void Names::declare_local(std::string name, std::uint64_t bytes, std::uint64_t align, Space space) {
  std::uint64_t& used = function_ ? function_->frame_bytes : local_bytes_;
  used = align_up(used, align);
  // The address of a function's variable is known when it is called.
  const std::uint32_t slot = function_ ? temporary() : constant(used);
  if (function_) function_->locals.push_back({slot, used});
  declare_variable(std::move(name), {space, slot, static_cast<std::uint32_t>(bytes), {}});
  used += bytes;
}

void Names::declare_global(std::string name, Space space, GlobalVariable variable) {
  declare_variable(std::move(name), {space, preset(What::Global, globals_.size()), 0, static_cast<std::uint32_t>(globals_.size())});
  globals_.push_back(std::move(variable));
}

std::optional<Names::Register> Names::find_register(std::string_view name) {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    if (const auto found = scope->registers.find(name); found != scope->registers.end()) return found->second;
    // "%rd12": the longest digit tail is the number, the rest the family.
    std::size_t digits = name.size();
    while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9') --digits;
    if (digits == name.size()) continue;
    const auto family = scope->families.find(name.substr(0, digits));
    if (family == scope->families.end()) continue;
    std::uint32_t number = 0;
    const auto parsed = std::from_chars(name.data() + digits, name.data() + name.size(), number);
    if (parsed.ec != std::errc() || number >= family->second.count) return std::nullopt;
    return scope->registers[std::string(name)] = {own(slots_++), family->second.type};
  }
  return std::nullopt;
}

const Names::Variable* Names::find_variable(std::string_view name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    if (const auto found = scope->variables.find(name); found != scope->variables.end()) return &found->second;
  }
  return nullptr;
}

std::optional<std::uint32_t> Names::find_fixed(std::string_view name) {
  if (const auto found = fixed_.find(name); found != fixed_.end()) return found->second;
  for (const Fixed& fixed : kFixed) {
    if (fixed.name != name) continue;
    const std::uint32_t slot = preset(fixed.what, fixed.value);
    fixed_.emplace(name, slot);
    return slot;
  }
  const auto reserved = find_reserved(name);
  if (reserved) fixed_.emplace(name, *reserved);
  return reserved;
}

/// Where memory lies that the driver lends to the groups of threads of CUDA's headers.
std::optional<std::uint32_t> Names::find_reserved(std::string_view name) {
  // fact: cooperative_groups/details/driver_abi.h: two words, one of which is the barrier of the grid.
  constexpr std::uint64_t kGridBytes = 8;
  // fact: cooperative_groups/details/memory.h: at least so many bytes for groups of several warps.
  constexpr std::uint64_t kReservedShared = 288;
  if (name == "%envreg1" || name == "%envreg2") {
    if (!grid_) grid_ = static_cast<std::uint32_t>(globals_.size()), globals_.push_back({"%envreg", kGridBytes, kGridBytes, {}, {}});
    return preset(name == "%envreg1" ? What::GlobalHigh : What::Global, *grid_);
  }
  if (name != "%reserved_smem_offset_1") return std::nullopt;
  shared_bytes_ = align_up(shared_bytes_, kDynamicAlign);
  const std::uint32_t slot = constant(shared_bytes_);
  shared_bytes_ += kReservedShared;
  return slot;
}

std::uint32_t Names::constant(std::uint64_t value) {
  const auto [found, added] = constants_.try_emplace(value, 0);
  if (added) found->second = preset(What::Value, value);
  return found->second;
}

std::uint32_t Names::preset(Preset::What what, std::uint64_t value) {
  presets_.push_back({what, slots_, value});
  return slots_++;
}

const char* Names::finish(Kernel& kernel) {
  if (parameter_bytes_ > kMostParameters) return "parameters";
  if (local_bytes_ > kMostLocal) return "local memory";
  if (shared_bytes_ > kMostShared) return "shared memory";
  kernel.shared_bytes = static_cast<std::uint32_t>(align_up(shared_bytes_, kDynamicAlign));
  for (Preset& p : presets_) {
    if (p.what == What::SharedDynamic && p.value == 1) p = {What::Value, p.slot, kernel.shared_bytes};
  }
  kernel.presets = std::move(presets_);
  kernel.parameters = std::move(parameters_);
  kernel.globals = std::move(globals_);
  kernel.grid_meets = grid_.has_value();
  kernel.slots = slots_;
  kernel.parameter_bytes = static_cast<std::uint32_t>(parameter_bytes_);
  kernel.local_bytes = static_cast<std::uint32_t>(local_bytes_);
  return nullptr;
}

}  // namespace gexp::sim
