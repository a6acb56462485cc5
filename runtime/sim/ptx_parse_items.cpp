// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/ptx_reader.h"

// Declarations and statements of a kernel.
namespace gexp::sim {

void Reader::item(const ptx::Item& item) {
  if (const auto* s = item.statement()) return instruction(*s);
  if (const auto* r = std::get_if<ptx::Registers>(&item.what)) return registers(*r);
  if (const auto* d = std::get_if<ptx::Declaration>(&item.what)) return variable(*d);
  if (const auto* brace = std::get_if<ptx::Brace>(&item.what)) return brace->open ? open_scope() : close_scope();
  if (const auto* label = std::get_if<ptx::Label>(&item.what))
    labels_.back().places[std::string(label->name)] = static_cast<std::uint32_t>(kernel_.code.size());
  if (const auto* table = std::get_if<ptx::BranchTargets>(&item.what)) labels_.back().tables[std::string(table->name)] = table;
}

void Reader::registers(const ptx::Registers& r) {
  for (const auto& [name, family, count] : r.names) {
    if (r.type == Type::B128) {
      // Two registers of 64 bits, the low half first.
      constexpr std::uint32_t kMostWide = 4096;
      if (r.vector > 1 || count > kMostWide) return fail(last_line_, fmt::format("'{}' is a vector, or one of more than {} registers of 128 bits", name, kMostWide));
      for (std::uint32_t k = 0; k < std::max(count, 1u); ++k) names_.declare_vector(family ? fmt::format("{}{}", name, k) : std::string(name), 2, Type::B64);
      continue;
    }
    if (r.vector == 1 && family) names_.declare_registers(std::string(name), count, r.type);
    else if (r.vector == 1) names_.declare_register(std::string(name), r.type);
    for (std::uint32_t k = 0; r.vector > 1 && k < count; ++k) {
      names_.declare_vector(family ? fmt::format("{}{}", name, k) : std::string(name), r.vector, r.type);
    }
  }
}

bool Reader::initial_values(const ptx::Declaration& d) {
  const std::size_t width = static_cast<std::size_t>(bits(d.type)) / 8;
  for (const auto& [token, minus, generic, offset] : d.initial) {
    std::uint64_t number = 0;
    if (token.kind == ptx::Token::Kind::Word) {
      const std::string name(token.text);
      const auto* variable = names_.find_variable(name);
      const auto function = variable ? std::nullopt : names_.find_function(name);
      if (width < 4 || (!function && (!variable || !variable->global)))
        return fail(token.line, fmt::format("'{}' is no address that the simulator can give an initial value", name)), false;
      if (function) number = kFunctionWindow + *function;
      else relocations_.push_back({initial_.size(), *variable->global, offset, static_cast<std::uint32_t>(width)});
    } else {
      const auto value = ptx::literal(token.text, minus, d.type);
      if (!value) return fail(token.line, fmt::format("{}, which '{}' begins with", ptx::why_no_literal(token.text), d.name)), false;
      number = *value;
    }
    for (std::size_t i = 0; i < width; ++i) initial_.push_back(static_cast<std::uint8_t>(number >> (8 * i)));
  }
  return true;
}

void Reader::variable(const ptx::Declaration& d) {
  initial_.clear(), relocations_.clear();
  last_line_ = std::max(last_line_, d.line);
  if (!initial_values(d)) return;
  const std::string name(d.name);
  if (d.space == ".shared") {
    if (d.sized()) names_.declare_shared(name, d.bytes(), d.align);
    else names_.declare_dynamic_shared(name);
  } else if (d.space == ".local" || d.space == ".param") {
    names_.declare_local(name, d.bytes(), d.align, d.space == ".local" ? Space::Local : Space::Frame);
  } else if (d.has(".extern")) {
    fail(d.line, fmt::format("'{}' is defined in no text that the simulator has", name));
  } else {
    const Space space = d.space == ".const" ? Space::Const : Space::Global;
    names_.declare_global(name, space, {name, d.bytes(), d.align, std::move(initial_), std::move(relocations_)});
  }
}

void Reader::instruction(const ptx::Statement& statement) {
  auto decoded = decode(statement, names_, kernel_);
  if (!decoded) {
    failed_ = decoded.error();
    return;
  }
  if (!statement.opcode.note.empty()) {  // what follows without a note belongs to it: loops, and what uses the value
    kernel_.statements.emplace_back(statement.opcode.note);
  }
  if (!decoded->empty()) decoded->back().opcode = opcode_index(statement.opcode.text);
  for (Instruction& i : *decoded) {
    i.statement = static_cast<std::uint32_t>(kernel_.statements.size() - 1);
    if (i.kind == Kind::BranchTable) branch_table(i, statement.operands.back().token);
    if (i.kind == Kind::Branch) labels_.back().branches.push_back({kernel_.code.size(), statement.operands.front().token});
    kernel_.code.push_back(i);
  }
}

std::uint32_t Reader::opcode_index(std::string_view text) {
  const auto [known, fresh] = opcodes_.try_emplace(std::string(text), static_cast<std::uint32_t>(kernel_.opcodes.size()));
  if (fresh) kernel_.opcodes.emplace_back(text);
  return known->second;
}

void Reader::branch_table(Instruction& i, const ptx::Token& name) {
  for (auto scope = labels_.rbegin(); scope != labels_.rend(); ++scope) {
    const auto table = scope->tables.find(name.text);
    if (table == scope->tables.end()) continue;
    const auto& labels = table->second->labels;
    i.list = static_cast<std::uint32_t>(kernel_.lists.size());
    i.reads = 0;
    if (labels.size() > 0xffff) return fail(name.line, "a table of more than 65535 branch targets");
    i.writes = static_cast<std::uint16_t>(labels.size());
    for (const ptx::Token& label : labels) {
      labels_.back().targets.push_back({kernel_.lists.size(), label});
      kernel_.lists.push_back(0);
    }
    return;
  }
  fail(name.line, fmt::format("no table '{}' of branch targets", name.text));
}

}  // namespace gexp::sim
