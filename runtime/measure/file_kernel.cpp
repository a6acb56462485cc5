// SPDX-License-Identifier: Apache-2.0
#include "runtime/measure/file_kernel.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>

#include "lang/base/sha256.h"
#include "ptx/soft_l1.h"
#include "runtime/measure/kernel_names.h"

// Which parameters a kernel has is asked of its PTX, the one form that says so; on a GPU machine code is made besides. A name without
// template arguments is looked for among the kernels of the text. One with them is asked of NVRTC, which makes that kernel.
namespace gexp::measure {
namespace {

using device::Target;
constexpr std::string_view kDefine = "define ";
constexpr std::size_t kMostNotes = 5;  // of the messages of a compile

Diagnostic at(const compiler::Shape& shape, const char* code, std::string message, std::string hint = {}) {
  return failure(code, shape.span, std::move(message), std::move(hint));
}

/// A line of the file without the blanks at its ends.
Span line_span(const Source& source, int line) {
  const auto& text = source.text();
  std::size_t begin = 0;
  for (int i = 1; i < line && begin < text.size(); ++i) begin = std::min(text.find('\n', begin), text.size() - 1) + 1;
  auto end = std::min(text.find('\n', begin), text.size());
  while (begin < end && (text[begin] == ' ' || text[begin] == '\t')) ++begin;
  while (end > begin && (text[end - 1] == '\r' || text[end - 1] == ' ')) --end;
  return {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)};
}

/// NVRTC's messages at their places in the file.
Diagnostic does_not_compile(const compiler::Shape& shape, const Diagnostic& problem) {
  auto lines = jit::log_lines(problem);
  std::erase_if(lines, [](const jit::LogLine& line) { return line.message.find("error") == std::string::npos; });
  if (lines.empty()) return at(shape, "E0513", problem.message);
  const auto told = [](const jit::LogLine& line) { return line.message.substr(line.message.find(": ") + 2); };
  Diagnostic made("E0513", line_span(*shape.text, lines.front().line), fmt::format("the kernel does not compile: {}", told(lines.front())),
                  "", Severity::Error);
  made.in = shape.text;
  for (std::size_t i = 1; i < lines.size() && i <= kMostNotes; ++i)
    made.notes.push_back({line_span(*shape.text, lines[i].line), told(lines[i]), shape.text});
  made.notes.push_back({shape.span, "it is launched here"});
  if (problem.message.find("identifier \"std::") != std::string::npos) made.hint = "NVRTC compiles device code alone";
  return made;
}

Diagnostic no_entry(const compiler::Shape& shape, const std::vector<jit::PtxEntry>& entries) {
  std::vector<std::string> names;
  for (const auto& entry : entries) names.push_back(jit::readable_name(entry.name));
  const auto wanted = shape.holes.at("entry");
  return at(shape, "E0511", fmt::format("{} has no kernel `{}`", shape.file(), wanted), meant_kernel(wanted, kernels_of_text(shape.text->text()), names));
}

/// The kernel that is asked for, by its own name or by that in C++.
Result<jit::PtxEntry> find_entry(const compiler::Shape& shape, const std::string& ptx, const std::string& wanted) {
  const auto entries = jit::ptx_entries(ptx);
  std::vector<jit::PtxEntry> fitting;
  for (const auto& entry : entries) {
    if (entry.name == wanted) return entry;
    if (jit::short_name(entry.name) == wanted) fitting.push_back(entry);
  }
  if (fitting.size() == 1) return fitting.front();
  if (fitting.empty()) return no_entry(shape, entries);
  return at(shape, "E0511", fmt::format("{} has {} kernels `{}`", shape.file(), fitting.size(), wanted),
            "give the one that is meant a name of its own: extern \"C\" __global__ void NAME");
}

/// Whoever wants the kernel waits no longer than it can; meanwhile a text that NVRTC crashes on is an error of that text.
Result<jit::Compiled> compile_guarded(jit::Compiler& compiler, const jit::Request& request) {
  return compiler.compile(request, [] { return false; });
}

bool has_template(const std::string& entry) { return entry.ends_with('>'); }

}  // namespace

device::Target own_architecture(const jit::Compiler& compiler, const device::DeviceInfo& device) {
  const int wanted = device.compute_major * 10 + device.compute_minor;
  const auto& known = compiler.architectures();
  return std::binary_search(known.begin(), known.end(), wanted) ? Target{Target::Form::Ptx, device.compute_major, device.compute_minor}
                                                                : Target{};
}

jit::Request file_request(const compiler::Shape& shape, device::Target target) {
  jit::Request request;
  request.source = shape.text->text();
  request.name = std::filesystem::path(shape.file()).filename().string();
  request.entry = shape.holes.at("entry");
  request.target = target;
  request.foreign = true;
  if (has_template(request.entry)) request.expression = request.entry;
  for (const auto& [name, value] : shape.holes) {
    if (name.starts_with(kDefine)) request.options.push_back(fmt::format("--define-macro={}={}", name.substr(kDefine.size()), value));
  }
  return request;
}

// A kernel that NVRTC does not know makes it complain of a text that is without fault.
Diagnostic why_not_compiled(jit::Compiler& compiler, const compiler::Shape& shape, jit::Request request, const Diagnostic& problem) {
  if (problem.code != "E0702") return problem.span.empty() ? at(shape, problem.code.c_str(), problem.message, problem.hint) : problem;
  if (request.expression.empty()) return does_not_compile(shape, problem);
  request.expression.clear();
  auto without = compile_guarded(compiler, request);
  if (!without) return does_not_compile(shape, without.error());
  auto made = no_entry(shape, jit::ptx_entries(without->image.bytes));
  const auto kernels = kernels_of_text(request.source);
  const auto name = request.entry.substr(0, request.entry.find('<'));
  const auto named = [&](const TextKernel& kernel) { return kernel.name == name && !kernel.parameters.empty(); };
  if (std::none_of(kernels.begin(), kernels.end(), named)) return made;  // what it says of such a name is of no use
  for (const auto& line : jit::log_lines(problem)) made.notes.push_back({{}, "NVRTC says: " + line.message});
  return made;
}

std::string file_heading(const compiler::Shape& shape) {
  std::string text = fmt::format("{} entry {}", shape.file(), shape.holes.at("entry"));
  for (const auto& [name, value] : shape.holes) {
    if (name.starts_with(kDefine)) text += fmt::format(" {}={}", name.substr(kDefine.size()), value);
  }
  if (shape.soft_l1) text += fmt::format(" transform soft_l1(line: {}B, monitor: {})", shape.soft_l1->line, shape.soft_l1->monitor);
  return text;
}

Result<jit::Compiled> with_cache(jit::Compiled compiled, const compiler::Shape& shape) {
  if (!shape.soft_l1) return compiled;
  auto made = ptx::soft_l1(compiled.image.bytes, compiled.image.entry, *shape.soft_l1);
  if (!made) return at(shape, made.error().code.c_str(), made.error().message);
  if (made->loops == 0)
    return at(shape, "E0514", fmt::format("`transform soft_l1` has nothing to cache in `{}`: {}", shape.holes.at("entry"), made->why),
              "the page of `transform` says what it can cache");
  if (shape.soft_l1->hits) compiled.parameters.push_back({8, false, false});
  compiled.image.bytes = std::move(made->text);
  compiled.key = sha256_hex(compiled.image.bytes);
  return compiled;
}

Result<jit::Compiled> compile_file_kernel(jit::Compiler& compiler, device::Target target, device::Target own,
                                          const compiler::Shape& shape) {
  jit::Compiled compiled;
  const auto source = std::make_shared<const std::string>(shape.text->text());
  if (shape.file().ends_with(".ptx")) {
    auto entry = find_entry(shape, *source, shape.holes.at("entry"));
    if (!entry) return entry.error();
    compiled.image = {Target::Form::Ptx, *source, entry->name};
    compiled.key = shape.holes.at("sha256");
    compiled.parameters = std::move(entry->parameters);
    compiled.source = source;
    return with_cache(std::move(compiled), shape);
  }
  auto request = file_request(shape, own.major > 0 ? own : Target{Target::Form::Ptx, target.major, target.minor});
  auto ptx = compile_guarded(compiler, request);
  if (!ptx) return why_not_compiled(compiler, shape, request, ptx.error());
  auto entry = find_entry(shape, ptx->image.bytes, request.expression.empty() ? request.entry : ptx->image.entry);
  if (!entry) return entry.error();
  compiled = std::move(*ptx);
  if (target.form == Target::Form::Cubin && !shape.soft_l1) {  // what is changed is PTX, which the driver compiles
    request.target = target;
    auto machine = compile_guarded(compiler, request);
    if (!machine) return why_not_compiled(compiler, shape, request, machine.error());
    compiled = std::move(*machine);
  }
  compiled.image.entry = entry->name;
  compiled.parameters = std::move(entry->parameters);
  compiled.source = source;
  return with_cache(std::move(compiled), shape);
}

std::optional<Diagnostic> misfit(const compiler::KernelPlan& kernel, const std::vector<jit::PtxParameter>& parameters,
                                 const compiler::Shape& shape) {
  const auto& given = kernel.arguments;
  const auto name = shape.holes.at("entry");
  if (given.size() != parameters.size()) {
    return at(shape, "E0512",
              fmt::format("`{}` takes {} argument{}, {} {} given", name, parameters.size(), parameters.size() == 1 ? "" : "s", given.size(),
                          given.size() == 1 ? "is" : "are"),
              "give one for each parameter of the kernel, in their order");
  }
  for (std::size_t i = 0; i < given.size(); ++i) {
    const auto& parameter = parameters[i];
    const auto refuse = [&](std::string message, std::string hint) {
      return failure("E0512", given[i].span, std::move(message), std::move(hint));
    };
    const bool scalar =
        !parameter.is_array && (parameter.bytes == 1 || parameter.bytes == 2 || parameter.bytes == 4 || parameter.bytes == 8);
    if (!scalar)
      return refuse(fmt::format("parameter {} of `{}` is a structure, or of a type that gexp does not know", i + 1, name),
                    "give the kernel numbers and pointers instead");
    if (given[i].kind == compiler::ArgumentKind::Value) continue;
    if (parameter.bytes != 8 || parameter.is_float) {
      return refuse(fmt::format("parameter {} of `{}` is a {} of {} B, no pointer", i + 1, name,
                                parameter.is_float ? "floating-point number" : "number", parameter.bytes),
                    "give it a number, or declare it as a pointer");
    }
  }
  return std::nullopt;
}

Result<device::Argument> value_argument(const compiler::KernelPlan::Argument& argument, const jit::PtxParameter& parameter) {
  device::Argument made{0, static_cast<std::uint8_t>(parameter.bytes)};
  const double value = argument.value;
  if (parameter.is_float) {
    if (parameter.bytes == 8)
      made.bits = std::bit_cast<std::uint64_t>(value);
    else if (parameter.bytes == 4)
      made.bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
    else
      return failure("E0512", argument.span,
                     fmt::format("the parameter is a floating-point number of {} B, which gexp cannot give", parameter.bytes),
                     "declare it as float");
    return made;
  }
  // PTX does not tell whether a number has a sign: what fits either way is taken.
  const int bits = static_cast<int>(parameter.bytes) * 8;
  const bool whole = value == std::floor(value), fits = value >= -std::ldexp(1, bits - 1) && value < std::ldexp(1, bits);
  if (!whole || !fits) {
    return failure("E0512", argument.span,
                   fmt::format("{:.17g} is no whole number of {} B, which the kernel's parameter is", value, parameter.bytes),
                   whole ? "declare the parameter wider"
                         : "`div` divides without a rest, floor(x) and ceil(x) round; or declare the parameter as float");
  }
  made.bits = value < 0 ? static_cast<std::uint64_t>(static_cast<std::int64_t>(value)) : static_cast<std::uint64_t>(value);
  if (bits < 64) made.bits &= (std::uint64_t{1} << bits) - 1;
  return made;
}

}  // namespace gexp::measure
