// SPDX-License-Identifier: Apache-2.0
#include "lang/foreign_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace gexp::lang {
namespace {

struct Foreign {
  std::string_view word, here;
};

constexpr auto kOperations = std::to_array<Foreign>({
    {"if", "branch tid < 16 { … } else { … }"},
    {"elif", "else { branch tid < 16 { … } }"},
    {"where", "branch tid < 16 { … }"},
    {"for", "loop i in 0..9 { … }"},
    {"while", "loop while x < 9 laps 100 { … }"},
    {"do", "loop while x < 9 laps 100 { … }"},
    {"set", "assign x = x + 1"},
    {"int", "var x: s32 = 0"},
    {"unsigned", "var x: u32 = 0"},
    {"float", "var x: f32 = 0"},
    {"double", "var x: f64 = 0"},
    {"ld", "load A at tid * 4B"},
    {"read", "load A at tid * 4B"},
    {"access", "load A at tid * 4B"},
    {"st", "store A at tid * 4B"},
    {"write", "store A at tid * 4B"},
    {"prefetch", "load A at tid * 128B to l2"},
    {"prefetchu", "load A at tid * 128B to l1"},
    {"cp", "load A at tid * 16B into S at tid * 16B as 16B drain"},
    {"copy", "load A at tid * 16B into S at tid * 16B as 16B drain"},
    {"memcpy", "load A at tid * 16B into S at tid * 16B as 16B drain"},
    {"memcpy_async", "load A at tid * 16B into S at tid * 16B as 16B drain"},
    {"tma", "load A at 0B into S at 0B as 1KiB via bulk drain"},
    {"bulk", "load A at 0B into S at 0B as 1KiB via bulk drain"},
    {"syncthreads", "barrier"},
    {"__syncthreads", "barrier"},
    {"bar", "barrier"},
    {"sync", "barrier"},
    {"membar", "fence gpu"},
    {"threadfence", "fence gpu"},
    {"__threadfence", "fence gpu"},
    {"__threadfence_block", "fence cta"},
    {"__threadfence_system", "fence sys"},
    {"atom", "atomic add.u32 A at 0B"},
    {"red", "atomic add.u32 A at 0B red"},
    {"atomicAdd", "atomic add.u32 A at 0B"},
    {"atomicCAS", "atomic cas.b32 A at 0B"},
    {"atomicExch", "atomic exch.b32 A at 0B"},
    {"clock", "stamp t"},
    {"clock64", "stamp t"},
    {"time", "stamp t"},
    {"print", "timed t values { … keep x }"},
    {"printf", "timed t values { … keep x }"},
    {"shfl", "alu shfl.idx.b32 chain 64 ilp 1"},
    {"vote", "alu vote.all.pred chain 64 ilp 1"},
    {"match", "alu match.any.b32 chain 64 ilp 1"},
    {"redux", "alu redux.add.u32 chain 64 ilp 1"},
    {"mma", "alu mma.m16n8k8.f32.f16 chain 64 ilp 1"},
    {"wgmma", "alu wgmma.m64n64k16.f32.f16 chain 64 ilp 1"},
    {"fma", "alu fma.f32 chain 64 ilp 1"},
    {"add", "alu add.u32 chain 64 ilp 1"},
    {"mul", "alu mul.u32 chain 64 ilp 1"},
    {"call", "kernel \"copy.cu\" entry copy(A, B, n)"},
});

constexpr auto kNames = std::to_array<Foreign>({
    {"threadIdx", "tid, the thread's number in its block"},
    {"thread", "tid, the thread's number in its block"},
    {"thread_id", "tid, the thread's number in its block"},
    {"blockIdx", "cta, the block's number"},
    {"block", "cta, the block's number"},
    {"bid", "cta, the block's number"},
    {"laneid", "lane, the thread's number in its warp"},
    {"lane_id", "lane, the thread's number in its warp"},
    {"warpid", "warp, the warp's number in its block"},
    {"warp_id", "warp, the warp's number in its block"},
    {"access", "step, the number of the access in its lap"},
    {"segment", "seg, the label of a part of the pattern"},
    {"sm", "sm(t), a list: the multiprocessor of each warp of a record"},
    {"smid", "sm(t), a list: the multiprocessor of each warp of a record"},
});

// Machine instructions, and functions of C.
constexpr auto kForeignInstructions = std::to_array<Foreign>({
    {"ffma", "fma.f32"},       {"fadd", "add.f32"},   {"fmul", "mul.f32"},   {"dfma", "fma.f64"},
    {"dadd", "add.f64"},       {"dmul", "mul.f64"},   {"hfma2", "fma.f16x2"}, {"iadd", "add.u32"},
    {"iadd3", "add.u32"},      {"imad", "mad.u32"},   {"imul", "mul.u32"},   {"idp", "dp4a.u32"},
    {"lop3", "and.b32"},       {"mufu", "rcp.f32"},   {"flo", "bfind.u32"},  {"exp", "ex2.f32"},
    {"exp2", "ex2.f32"},       {"log", "lg2.f32"},    {"log2", "lg2.f32"},   {"fdiv", "div.f32"},
    {"idiv", "div.s32"},       {"mod", "rem.u32"},    {"hmma", "mma.m16n8k8.f32.f16"}, {"wmma", "mma.m16n8k8.f32.f16"},
    {"hgmma", "wgmma.m64n64k16.f32.f16"},
});

struct Placed {
  std::string_view place, word, here;
};
constexpr auto kPlaced = std::to_array<Placed>({
    {"a scope", "device", "gpu"},
    {"a scope", "global", "gpu"},
    {"a scope", "gl", "gpu"},
    {"a scope", "system", "sys"},
    {"a scope", "block", "cta"},
    {"a path", "tma", "bulk"},
    {"a path", "async", "cg, behind `load A at X into S at Y`, which is asynchronous"},
    {"a path", "l1", "ca"},
    {"a path", "l2", "cg"},
    {"a path", "evict_first", "hint evict_first"},
    {"a path", "evict_last", "hint evict_last"},
    {"a path", "no_allocate", "hint no_allocate"},
    {"a path", "readonly", "nc"},
    {"a path", "ldg", "nc"},
    {"a path", "texture", "tex"},
    {"a memory space", "pinned", "host"},
    {"a memory space", "unified", "managed"},
    {"a memory space", "dsmem", "shared, and `rank N` at the access"},
    {"a memory space", "const", "constant"},
    {"a memory space", "device", "global"},
    {"an element type", "int", "s32"},
    {"an element type", "uint", "u32"},
    {"an element type", "unsigned", "u32"},
    {"an element type", "float", "f32"},
    {"an element type", "double", "f64"},
    {"an element type", "half", "f16"},
    {"an element type", "char", "u8"},
    {"an element type", "byte", "u8"},
    {"the type of a variable", "int", "s32"},
    {"the type of a variable", "uint", "u32"},
    {"the type of a variable", "unsigned", "u32"},
    {"the type of a variable", "float", "f32"},
    {"the type of a variable", "double", "f64"},
    {"the type of a variable", "f16", "f32"},
    {"the type of a variable", "bf16", "f32"},
    {"a placement", "same_sm", "sm"},
    {"a placement", "another_sm", "other_sm"},
    {"a way of timing", "access", "each"},
    {"a way of timing", "warp", "total"},
    {"a way of timing", "kernel", "wall"},
    {"a way of timing", "launch", "wall"},
    {"a way of drawing", "heat", "heatmap"},
});

/// What stands in a table for a word; empty where it has none.
template <class Table> std::string_view here_of(const Table& table, std::string_view word) {
  const auto found = std::find_if(table.begin(), table.end(), [&](const Foreign& each) { return each.word == word; });
  return found == table.end() ? std::string_view() : found->here;
}

std::string written(std::string_view here) {
  const auto comma = here.find(", ");
  const auto word = here.substr(0, comma);
  return fmt::format("write `{}`{}", word, comma == std::string_view::npos ? "" : here.substr(comma));
}

}  // namespace

std::string foreign_operation(std::string_view word) {
  const auto here = here_of(kOperations, word);
  return here.empty() ? "" : fmt::format("write it like `{}`", here);
}

std::string foreign_name(std::string_view word) {
  if (word == "role") return "a stage beside another has a record of its own: ask in that stage";
  const auto here = here_of(kNames, word);
  return here.empty() ? "" : written(here);
}

std::string foreign_instruction(std::string_view name) {
  std::string stem(name.substr(0, name.find('.')));
  for (auto& c : stem) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return std::string(here_of(kForeignInstructions, stem));
}

std::string foreign_word(std::string_view word, std::string_view place) {
  const auto is = [&](const Placed& each) { return each.word == word && each.place == place; };
  const auto found = std::find_if(kPlaced.begin(), kPlaced.end(), is);
  return found == kPlaced.end() ? "" : written(found->here);
}

}  // namespace gexp::lang
