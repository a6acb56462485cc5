// SPDX-License-Identifier: Apache-2.0
#include "ptx/take_registers.h"

#include <fmt/format.h>

#include <algorithm>

#include "ptx/tree.h"

// ptxas moves what has no effect next to where it is used, a read of the clock too. So the values are volatile loads of a word that nothing
// writes, and their use begins with one more: it comes after them, and after the kernel's own accesses. Each use needs the one before it.
namespace gexp::ptx {
namespace {

constexpr std::uint32_t kMore = 8;  // limit: values beyond the registers, since ptxas keeps or computes some of them otherwise

/// The items of a body that is written as text.
Result<std::vector<Item>> items_of(Module& module, const std::string& text) {
  auto made = parse(module.keep(".entry made() {\n" + text + "}\n"));
  if (!made) return made.error();
  auto& kernel = std::get<Function>(made->items.front());
  if (kernel.wrong) return *kernel.wrong;
  return std::move(kernel.body);
}

bool ends(const Item& item) {
  const auto* s = item.statement();
  return s && (s->opcode.is("ret") || s->opcode.is("ret.uni") || s->opcode.is("exit"));
}

}  // namespace

Result<std::string> take_registers(std::string_view text, std::string_view entry, std::uint32_t count) {
  auto module = parse(text);
  if (!module) return module.error();
  const auto found = module->readable(entry);
  if (!found) return found.error();
  Function* const kernel = *found;
  if (std::any_of(kernel->bounds.begin(), kernel->bounds.end(), [](const Token& word) { return word.is(".maxnreg"); }))
    return ptx_error(kernel->line, fmt::format("the kernel '{}' bounds its registers itself", entry));
  std::string own = "gexp_held";  // a name that the text has not
  while (text.find(own) != std::string_view::npos) own += '_';

  std::string loads, uses = fmt::format("ld.volatile.global.u32 %{0}_all, [{0}];\n", own);
  const std::uint32_t values = count + kMore;
  for (std::uint32_t i = 0; i < values; ++i) {
    loads += fmt::format("ld.volatile.global.u32 %{0}{1}, [{0}];\n", own, i);
    uses += fmt::format("mad.lo.u32 %{0}_all, %{0}_all, %{0}{1}, %{0}{1};\n", own, i);
  }
  // Whether it holds or not, nothing is done that another thread sees.
  uses += fmt::format("setp.eq.u32 %{0}_some, %{0}_all, 1;\n@%{0}_some membar.gl;\n", own);
  auto names = items_of(*module, fmt::format(".reg .b32 %{0}<{1}>;\n.reg .b32 %{0}_all;\n.reg .pred %{0}_some;\n", own, values));
  auto begin = items_of(*module, loads), end = items_of(*module, uses);
  for (const auto* made : {&names, &begin, &end}) {
    if (!*made) return made->error();
  }

  std::vector<Item> body = std::move(*names);
  bool begun = false;
  for (auto& item : kernel->body) {
    if (!begun && (item.statement() || std::holds_alternative<Label>(item.what) || std::holds_alternative<Brace>(item.what))) {
      body.insert(body.end(), begin->begin(), begin->end());
      begun = true;
    }
    if (ends(item)) body.insert(body.end(), end->begin(), end->end());
    body.push_back(std::move(item));
  }
  if (body.empty() || !ends(body.back())) body.insert(body.end(), end->begin(), end->end());
  kernel->body = std::move(body);
  module->bound(*kernel, ".maxnreg", count);
  auto cell = parse(module->keep(fmt::format(".global .align 4 .u32 {};\n", own)));
  if (!cell) return cell.error();
  module->items.insert(std::find_if(module->items.begin(), module->items.end(), [](const auto& item) { return std::holds_alternative<Function>(item); }), cell->items.front());
  return print(*module);
}

}  // namespace gexp::ptx
