// SPDX-License-Identifier: Apache-2.0
#include "tests/differential/print.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <set>

#include "lang/base/embedded.h"

namespace gexp::embedded {
const std::vector<File>& differential_operations();
}

namespace gexp::differential {
namespace {

std::string literal(Type type, std::uint64_t value) {
  if (is_float(type)) {
    const double number = type == Type::F32 ? std::bit_cast<float>(static_cast<std::uint32_t>(value)) : std::bit_cast<double>(value);
    const char* const suffix = type == Type::F32 ? "f" : "";
    if (!std::isfinite(number)) return fmt::format("{}_from_bits(0x{:x}u{})", cuda_name(type), value, type == Type::F32 ? "" : "ll");
    return fmt::format("{:a}{}", number, suffix);
  }
  const auto number = static_cast<std::int64_t>(is_signed(type) ? static_cast<std::int64_t>(value << (64 - 8 * bytes(type))) >> (64 - 8 * bytes(type))
                                                                : static_cast<std::int64_t>(value));
  const std::string digits = number > -100000 && number < 100000 ? fmt::to_string(number) : fmt::format("0x{:x}{}", value, bytes(type) == 8 ? "ull" : "u");
  return fmt::format("({}){}", cuda_name(type), digits);
}

class Printer {
 public:
  explicit Printer(const Program& program) : p_(program) {}
  std::string run();

 private:
  void find_used(const Node& node);
  std::string expression(const Node& node);
  std::string element(const Node& node);
  std::string joined(const std::vector<Node>& nodes, std::size_t from = 0);
  void line(const std::string& text) { body_ += std::string(static_cast<std::size_t>(2 * depth_), ' ') + text + '\n'; }
  void group(const Node& node) {
    ++depth_;
    for (const Node& child : node.children) statement(child);
    --depth_;
  }
  void statement(const Node& node);
  void switch_statement(const Node& node);
  void declare(std::size_t array);
  std::string initial(const Array& array) const;
  std::string parameters() const;

  const Program& p_;
  std::set<int> arrays_, variables_, functions_;
  bool keeps_ = false;
  int depth_ = 1;
  std::string body_;
};

void Printer::find_used(const Node& node) {
  if (node.kind == Kind::Element || node.kind == Kind::Store || node.kind == Kind::Update) arrays_.insert(node.array);
  if (node.kind == Kind::Variable || node.kind == Kind::Assign || node.kind == Kind::Keep || (node.kind == Kind::Update && node.index >= 0))
    variables_.insert(node.index);
  if (node.kind == Kind::Keep) keeps_ = true;
  if (node.kind == Kind::Call && functions_.insert(node.index).second) find_used(p_.functions[static_cast<std::size_t>(node.index)].result);
  for (const Node& child : node.children) find_used(child);
}

std::string Printer::joined(const std::vector<Node>& nodes, std::size_t from) {
  std::string text;
  for (std::size_t i = from; i < nodes.size(); ++i) text += (i == from ? "" : ", ") + expression(nodes[i]);
  return text;
}

/// The element that an Element, Store or Update names.
std::string Printer::element(const Node& node) {
  const Array& array = p_.arrays[static_cast<std::size_t>(node.array)];
  const bool shared = array.space == Space::Shared;
  const std::uint32_t count = array.count * (shared && !node.own ? p_.most_block : 1) / node.width;
  const std::string name = array.space == Space::Constant ? fmt::format("c{}_{}", p_.number, node.array) : fmt::format("a{}", node.array);
  const char* const constant = array.space == Space::Input ? "const " : "";
  const std::string base = node.width == 1 ? name : fmt::format("(({}{}*){})", constant, cuda_name(array.type, node.width), name);
  const std::string own = shared && node.own ? fmt::format("threadIdx.x * {}u + ", count) : "";
  return fmt::format("{}[{}({} & {}u)]", base, own, expression(node.children[0]), count - 1);
}

std::string Printer::expression(const Node& node) {
  static constexpr const char* kRoundings[] = {"to_nearest", "to_zero", "to_down", "to_up"};
  const auto child = [&](std::size_t i) { return expression(node.children[i]); };
  switch (node.kind) {
    case Kind::Literal: return literal(node.type, node.value);
    case Kind::Variable: return fmt::format("v{}", node.index);
    case Kind::Argument: return fmt::format("x{}", node.index);
    case Kind::Thread: return "threadIdx.x";
    case Kind::Block: return "blockIdx.x";
    case Kind::Threads: return "blockDim.x";
    case Kind::Blocks: return "gridDim.x";
    case Kind::Parameter: return node.index == 0 ? "p32" : "p64";
    case Kind::Apply: return fmt::format("{}({})", facts(node.op).name, joined(node.children));
    case Kind::Cast:
      if (is_float(node.children[0].type) && !is_float(node.type)) return fmt::format("truncated<{}>({})", cuda_name(node.type), child(0));
      return fmt::format("({})({})", cuda_name(node.type), child(0));
    case Kind::Convert: return fmt::format("{}<{}>({})", kRoundings[node.index], cuda_name(node.type), child(0));
    case Kind::ToBits: return fmt::format("bits_of_{}({})", node.type == Type::U32 ? "float" : "double", child(0));
    case Kind::FromBits: return fmt::format("{}_from_bits({})", node.type == Type::F32 ? "float" : "double", child(0));
    case Kind::Select: return fmt::format("({} ? {} : {})", child(0), child(1), child(2));
    case Kind::Both: return fmt::format("(int)({} && {})", child(0), child(1));
    case Kind::Either: return fmt::format("(int)({} || {})", child(0), child(1));
    case Kind::Element: return element(node) + (node.width == 1 ? "" : fmt::format(".{}", "xyzw"[node.index]));
    case Kind::Call: return fmt::format("f{}_{}({})", p_.number, node.index, joined(node.children));
    default: return "?";
  }
}

void Printer::statement(const Node& node) {
  const std::string place = "(blockIdx.x * blockDim.x + threadIdx.x)";
  switch (node.kind) {
    case Kind::Group:
      line("{");
      group(node);
      return line("}");
    case Kind::Assign: return line(fmt::format("v{} = {};", node.index, expression(node.children[0])));
    case Kind::Store: {
      const Type type = p_.arrays[static_cast<std::size_t>(node.array)].type;
      const std::string values = joined(node.children, 1);
      return line(fmt::format("{} = {};", element(node), node.width == 1 ? values : fmt::format("make_{}({})", cuda_name(type, node.width), values)));
    }
    case Kind::Update:
      return line(fmt::format("{}{}(&{}, {});", node.index < 0 ? "" : fmt::format("v{} = ", node.index), name(node.atomic), element(node),
                              expression(node.children[1])));
    case Kind::If:
      line(fmt::format("if ({}) {{", expression(node.children[0])));
      group(node.children[1]);
      if (!node.children[2].children.empty()) {
        line("} else {");
        group(node.children[2]);
      }
      return line("}");
    case Kind::Loop:
      if (node.own) line("#pragma unroll 1");
      line(fmt::format("for (int v{0} = 0, n{0} = (int)({1} & {2}u); v{0} < n{0}; ++v{0}) {{", node.index, expression(node.children[0]), node.value));
      group(node.children[1]);
      return line("}");
    case Kind::Switch: return switch_statement(node);
    case Kind::Keep:
      return line(fmt::format("*({}*)(out + {} + ({} * {} + {}) * 8) = v{};", cuda_name(p_.variables[static_cast<std::size_t>(node.index)].type), p_.apart ? 0 : p_.results,
                              place, p_.variables.size(), node.index, node.index));
    case Kind::Fence: return line("__threadfence();");
    case Kind::Return: return line("return;");
    case Kind::Break: return line("break;");
    case Kind::Continue: return line("continue;");
    default: return line(expression(node) + ";");
  }
}

void Printer::switch_statement(const Node& node) {
  line(fmt::format("switch ({}) {{", expression(node.children[0])));
  for (std::size_t i = 1; i < node.children.size(); ++i) {
    const bool last = i + 1 == node.children.size();
    line(last ? "default:" : fmt::format("case {}:", i - 1));
    group(node.children[i]);
    if (!(node.value >> (i - 1) & 1)) {
      ++depth_;
      line("break;");
      --depth_;
    }
  }
  line("}");
}

std::string Printer::initial(const Array& array) const {
  std::string text;
  for (const std::uint64_t value : array.initial) text += (text.empty() ? "" : ", ") + literal(array.type, value);
  return text;
}

void Printer::declare(std::size_t index) {
  const Array& array = p_.arrays[index];
  const char* const type = cuda_name(array.type);
  static constexpr const char* kBuffers[] = {"in", "out", "counters"};
  const std::string from = !array.global() ? ""
                           : p_.apart      ? fmt::format("p{} + {}", index, array.offset - p_.pieces[array.piece].begin)
                                           : fmt::format("{} + {}", kBuffers[static_cast<std::size_t>(array.space)], array.offset);
  switch (array.space) {
    case Space::Input: return line(fmt::format("const {0}* const a{1} = (const {0}*)({2});", type, index, from));
    case Space::Output:
      return line(fmt::format("{0}* const a{1} = ({0}*)({2}) + (blockIdx.x * blockDim.x + threadIdx.x) * {3};", type, index, from, array.pitch));
    case Space::Counter: return line(fmt::format("{0}* const a{1} = ({0}*)({2});", type, index, from));
    case Space::Local: return line(fmt::format("__align__(16) {} a{}[{}] = {{{}}};", type, index, array.count, initial(array)));
    case Space::Shared:
      line(fmt::format("__shared__ __align__(16) {} a{}[{}];", type, index, array.count * p_.most_block));
      return line(fmt::format("for (unsigned i = threadIdx.x; i < {}u; i += blockDim.x) a{}[i] = ({})(i * 37u);", array.count * p_.most_block, index, type));
    case Space::Constant: return;
  }
}

std::string Printer::parameters() const {
  const char* const input = p_.restrict_input ? "const unsigned char* __restrict__" : "const unsigned char*";
  if (!p_.apart) return fmt::format("{} in, unsigned char* out, unsigned char* counters, unsigned p32, u64 p64", input);
  std::string text = "unsigned char* out, unsigned p32, u64 p64";
  for (std::size_t a = 0; a < p_.arrays.size(); ++a) {
    const Array& array = p_.arrays[a];
    if (array.global()) text += fmt::format(", {} p{}", array.space == Space::Input ? input : "unsigned char*", a);
  }
  return text;
}

std::string Printer::run() {
  for (const Node& phase : p_.phases) find_used(phase);
  std::string text;
  bool shared = false;
  for (const int a : arrays_) {
    const Array& array = p_.arrays[static_cast<std::size_t>(a)];
    if (array.space == Space::Constant)
      text += fmt::format("__constant__ {} c{}_{}[{}] = {{{}}};\n", cuda_name(array.type), p_.number, a, array.count, initial(array));
    shared |= array.space == Space::Shared;
  }
  for (const int f : functions_) {
    const Function& function = p_.functions[static_cast<std::size_t>(f)];
    std::string parameters;
    for (std::size_t i = 0; i < function.parameters.size(); ++i)
      parameters += fmt::format("{}{} x{}", i == 0 ? "" : ", ", cuda_name(function.parameters[i]), i);
    text += fmt::format("__device__ __forceinline__ {} f{}_{}({}) {{ return {}; }}\n", cuda_name(function.result.type), p_.number, f, parameters,
                        expression(function.result));
  }
  for (const int a : arrays_) declare(static_cast<std::size_t>(a));
  for (const int v : variables_) {
    const Variable& variable = p_.variables[static_cast<std::size_t>(v)];
    if (!variable.counts) line(fmt::format("{} v{} = {};", cuda_name(variable.type), v, literal(variable.type, variable.initial)));
  }
  const bool again = p_.rounds > 1;
  if (again) line(fmt::format("#pragma unroll 1\n  for (int round = 0; round < {}; ++round) {{", p_.rounds));
  for (std::size_t i = 0; i < p_.phases.size(); ++i) {
    if (shared || again) line("__syncthreads();");
    --depth_;
    group(p_.phases[i]);
    ++depth_;
  }
  if (again) line("}");
  return text + fmt::format("extern \"C\" __global__ void {}({}) {{\n{}}}\n", p_.entry(), parameters(), body_);
}

}  // namespace

std::string preamble() {
  std::string device, common;
  for (const auto& file : embedded::differential_operations()) (file.name == "device_operations.cu" ? device : common) += file.text;
  return device + common;
}

std::string print(const Program& program) { return Printer(program).run(); }

std::string print_all(std::span<const Program> programs) {
  std::string text = preamble();
  for (const Program& program : programs) text += print(program);
  return text;
}

}  // namespace gexp::differential
