// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/ptx_parse.h"

#include "runtime/sim/ptx_functions.h"
#include "runtime/sim/ptx_reader.h"
#include "runtime/sim/ptx_registers.h"
#include "runtime/sim/reconvergence.h"

// Labels are the only names used before they are declared, so branches are patched at scope ends. Functions are read when the module
// has been: those that the kernel can reach, and no others.
namespace gexp::sim {

Result<Kernel> Reader::run() {
  for (const auto& item : module_.items) {
    if (failed_) break;
    if (const auto* d = std::get_if<ptx::Declaration>(&item)) variable(*d);
    else if (const auto* r = std::get_if<ptx::Registers>(&item)) registers(*r);
    else if (const auto* f = std::get_if<ptx::Function>(&item)) function(*f);
  }
  if (!failed_ && !found_) fail(last_line_, fmt::format("the PTX text has no kernel '{}'", entry_));
  for (std::size_t k = 0; !failed_ && k < names_.functions_used().size(); ++k) called(std::string(names_.functions_used()[k]));
  if (!failed_) {
    if (const char* large = names_.finish(kernel_)) fail(last_line_, fmt::format("the kernel has more {} than a device", large));
  }
  if (!failed_) failed_ = link_functions(kernel_);
  if (failed_) return *failed_;
  kernel_.registers = estimate_registers(kernel_);
  if (kernel_.most_registers > 0) kernel_.registers = std::min(kernel_.registers, kernel_.most_registers);
  note_meetings(kernel_);
  return std::move(kernel_);
}

void Reader::function(const ptx::Function& f) {
  last_line_ = std::max(f.line, f.end_line);
  if (f.entry) return f.name == entry_ && !f.declared_only ? kernel(f) : void();
  const bool external = std::any_of(f.linkage.begin(), f.linkage.end(), [](const ptx::Token& word) { return word.is(".extern"); });
  if (f.declared_only && external) return;
  names_.declare_function(std::string(f.name));
  if (!f.declared_only) functions_[std::string(f.name)] = &f;
}

void Reader::kernel(const ptx::Function& f) {
  if (found_) return fail(f.line, fmt::format("a second kernel '{}'", f.name));
  found_ = true;
  kernel_.name = f.name;
  for (std::size_t k = 0; k + 1 < f.bounds.size(); ++k) {
    if (f.bounds[k].is(".maxnreg")) kernel_.most_registers = static_cast<std::uint32_t>(literal(f.bounds[k + 1].text, false, Type::U32).value_or(0));
    if (!f.bounds[k].is(".reqnctapercluster")) continue;
    kernel_.cluster = static_cast<std::uint32_t>(literal(f.bounds[k + 1].text, false, Type::U32).value_or(1));
    for (std::size_t more = k + 2; more < f.bounds.size() && f.bounds[more].kind != Token::Kind::Word; ++more) {
      if (literal(f.bounds[more].text, false, Type::U32).value_or(1) != 1) return fail(f.line, "clusters of several dimensions are not simulated");
    }
  }
  names_.open_scope();
  for (const ptx::Declaration& d : f.parameters) {
    if (d.space != ".param") return fail(d.line, fmt::format("expected '.param', found '{}'", d.space));
    names_.declare_parameter(std::string(d.name), d.bytes(), d.align, d.type);
  }
  body(f, Kind::Exit);
  names_.close_scope();
}

void Reader::called(const std::string& name) {
  const auto found = functions_.find(name);
  if (found == functions_.end()) return fail(last_line_, fmt::format("function '{}' has no body in this text", name));
  const ptx::Function& f = *found->second;
  Function made;
  made.name = name;
  made.entry = static_cast<std::uint32_t>(kernel_.code.size());
  names_.begin_function(made);
  made.results = formals(f.results);
  made.parameters = formals(f.parameters);
  body(f, Kind::Return);
  names_.end_function();
  kernel_.functions.push_back(std::move(made));
}

std::vector<Passed> Reader::formals(const std::vector<ptx::Declaration>& list) {
  std::vector<Passed> passed;
  for (const ptx::Declaration& d : list) {
    const std::string name(d.name);
    if (d.space == ".reg" && d.vector > 1) {
      names_.declare_vector(name, d.vector, d.type);
      for (const std::string_view each : names_.find_vector(name)) passed.push_back({names_.find_register(each)->slot, 0});
    } else if (d.space == ".reg") {
      names_.declare_register(name, d.type);
      passed.push_back({names_.find_register(name)->slot, 0});
    } else {
      names_.declare_local(name, d.bytes(), d.align, Space::Frame);
      passed.push_back({names_.find_variable(name)->slot, static_cast<std::uint32_t>(d.bytes())});
    }
  }
  return passed;
}

void Reader::body(const ptx::Function& f, Kind end) {
  open_scope();
  for (const ptx::Item& each : f.body) {
    if (failed_) return;
    item(each);
  }
  if (failed_) return;
  if (f.wrong) {
    failed_ = f.wrong;
    return;
  }
  close_scope();
  Instruction last;
  last.kind = end;
  last.line = f.end_line;
  kernel_.code.push_back(last);
}

void Reader::open_scope() {
  names_.open_scope();
  labels_.emplace_back();
}

void Reader::close_scope() {
  names_.close_scope();
  close_labels();
}

void Reader::close_labels() {
  Labels closed = std::move(labels_.back());
  labels_.pop_back();
  const auto no_label = [this](const ptx::Token& label) { fail(label.line, fmt::format("no label '{}' to branch to", label.text)); };
  for (const Branch& branch : closed.branches) {
    const auto place = closed.places.find(branch.label.text);
    if (place != closed.places.end()) kernel_.code[branch.instruction].target = place->second;
    else if (!labels_.empty()) labels_.back().branches.push_back(branch);
    else no_label(branch.label);
  }
  for (const Branch& target : closed.targets) {
    const auto place = closed.places.find(target.label.text);
    if (place != closed.places.end()) kernel_.lists[target.instruction] = place->second;
    else if (!labels_.empty()) labels_.back().targets.push_back(target);
    else no_label(target.label);
  }
}

Result<Kernel> parse_ptx(std::string_view text, std::string_view entry) {
  const auto module = ptx::parse(text, entry);
  if (!module) return module.error();
  return Reader(*module, entry).run();
}

}  // namespace gexp::sim
