// SPDX-License-Identifier: Apache-2.0
#include "ptx/registers.h"

#include <algorithm>
#include <bit>
#include <map>

#include "ptx/flow.h"
#include "ptx/opcode.h"

// Liveness by the usual backward data-flow equations, iterated until nothing changes: loops need a second round, nests one more.
namespace gexp::ptx {
namespace {

constexpr std::uint32_t kAdded = 8, kStep = 8;
constexpr std::size_t kMostWork = 1u << 25;  // words of all live sets; beyond it the estimate is not worth its memory

/// Registers that a kernel declares, by name: their numbers, and what each takes. Predicates take nothing.
class Names {
 public:
  explicit Names(const Function& f) {
    for (const Item& item : f.body) {
      if (const auto* r = std::get_if<Registers>(&item.what)) families_.push_back(r);
    }
  }
  /// Nothing of a label, a variable or a special register.
  std::optional<std::uint32_t> number(std::string_view name) {
    name = name.substr(0, name.find('.', 1));  // elements of a vector register are one
    if (const auto known = numbers_.find(name); known != numbers_.end()) return known->second;
    const auto takes = width_of(name);
    if (!takes) return std::nullopt;
    numbers_[name] = static_cast<std::uint32_t>(width.size());
    width.push_back(*takes);
    return numbers_[name];
  }
  std::vector<std::uint32_t> width;

 private:
  static std::uint32_t takes(Type type, std::size_t vector) {
    return type == Type::Pred ? 0 : static_cast<std::uint32_t>(vector) * (bits(type) > 32 ? 2 : 1);
  }
  [[nodiscard]] std::optional<std::uint32_t> width_of(std::string_view name) const {
    const auto digits = name.find_last_not_of("0123456789") + 1;
    for (const Registers* r : families_) {
      for (const auto& each : r->names) {
        if (each.family ? each.name == name.substr(0, digits) && digits < name.size() : each.name == name) return takes(r->type, r->vector);
      }
    }
    return std::nullopt;
  }
  std::vector<const Registers*> families_;
  std::map<std::string_view, std::uint32_t> numbers_;
};

void name_all(const Operand& o, Names& names, std::vector<std::uint32_t>& to) {
  if (o.token.kind == Token::Kind::Word) {
    if (const auto number = names.number(o.token.text)) to.push_back(*number);
  }
  for (const Operand& item : o.items) name_all(item, names, to);
}

LiveStep step_of(const Statement& s, Names& names) {
  LiveStep made;
  const auto word = Opcode(s.opcode.text).name();
  const bool gives = !s.operands.empty() && s.operands.front().kind != Operand::Kind::Address && word != "st" && word != "red" && word != "bra" &&
                     word != "brx" && word != "call" && word != "bar" && word != "barrier";
  for (std::size_t k = 0; k < s.operands.size(); ++k) name_all(s.operands[k], names, k == 0 && gives ? made.writes : made.reads);
  if (s.guard) {
    made.always = false;
    if (const auto number = names.number(s.guard->text)) made.reads.push_back(*number);
  }
  return made;
}

}  // namespace

std::uint32_t registers_needed(const std::vector<LiveStep>& code, const std::vector<std::uint32_t>& width) {
  const std::size_t words = (width.size() + 63) / 64;
  if (code.size() * words > kMostWork) return 0;
  std::vector<std::uint64_t> live(code.size() * words, 0), now(words);  // before each instruction
  std::uint32_t most = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t at = code.size(); at-- > 0;) {
      const LiveStep& step = code[at];
      std::fill(now.begin(), now.end(), 0);
      for (const std::size_t next : step.next) {
        for (std::size_t w = 0; w < words && next < code.size(); ++w) now[w] |= live[next * words + w];
      }
      for (std::size_t k = 0; k < step.writes.size() && step.always; ++k) now[step.writes[k] / 64] &= ~(1ull << (step.writes[k] % 64));
      for (const std::uint32_t number : step.reads) now[number / 64] |= 1ull << (number % 64);
      const auto known = live.begin() + static_cast<std::ptrdiff_t>(at * words);
      if (std::equal(now.begin(), now.end(), known)) continue;
      std::copy(now.begin(), now.end(), known);
      changed = true;
      std::uint32_t registers = 0;
      for (std::size_t w = 0; w < words; ++w) {
        for (std::uint64_t left = now[w]; left != 0; left &= left - 1) registers += width[w * 64 + static_cast<std::size_t>(std::countr_zero(left))];
      }
      most = std::max(most, registers);
    }
  }
  return (most + kAdded + kStep - 1) / kStep * kStep;
}

std::uint32_t registers_needed(const Function& kernel) {
  const auto flow = flow_of(kernel);
  if (!flow) return 0;
  Names names(kernel);
  std::vector<LiveStep> code;
  std::vector<std::size_t> begins;  // of each block, among the steps
  for (const Block& block : flow->blocks) {
    begins.push_back(code.size());
    for (std::size_t i = block.begin; i < block.end; ++i) {
      if (const auto* s = kernel.body[i].statement()) code.push_back(step_of(*s, names));
    }
    if (code.size() == begins.back()) code.emplace_back();  // of labels alone
  }
  begins.push_back(code.size());
  for (std::size_t b = 0; b < flow->blocks.size(); ++b) {
    for (std::size_t at = begins[b]; at + 1 < begins[b + 1]; ++at) code[at].next = {at + 1};
    for (const std::size_t to : flow->blocks[b].to) code[begins[b + 1] - 1].next.push_back(begins[to]);
  }
  return registers_needed(code, names.width);
}

}  // namespace gexp::ptx
