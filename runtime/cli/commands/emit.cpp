// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>

#include "compiler/codegen/emit.h"
#include "compiler/lower/ops.h"
#include "compiler/pipeline.h"
#include "compiler/plan/plan.h"
#include "lang/format.h"
#include "runtime/cli/app.h"
#include "runtime/cli/last_resort.h"
#include "runtime/cli/output.h"
#include "runtime/cli/sandbox.h"
#include "runtime/cli/shared_options.h"
#include "runtime/device/facts.h"
#include "ptx/take_registers.h"
#include "runtime/jit/compiler.h"
#include "runtime/measure/file_kernel.h"

namespace gexp::cli {
namespace {

/// What a command answers where it ends early, with the reason printed.
template <typename T>
using OrExit = std::variant<T, int>;

/// The number of "sm_90"; nothing when the text is none.
std::optional<int> architecture(const std::string& text) {
  if (!text.starts_with("sm_") || text.size() < 5 || text.size() > 6) return std::nullopt;
  if (!std::all_of(text.begin() + 3, text.end(), [](char c) { return c >= '0' && c <= '9'; })) return std::nullopt;
  return std::stoi(text.substr(3));
}

std::string checked_architecture(const std::string& text) {
  return architecture(text) ? std::string() : "write an architecture such as sm_90";
}

class Emit final : public Command {
 public:
  void declare(Options& options) override;
  [[nodiscard]] std::string misuse() const override;
  [[nodiscard]] std::optional<std::vector<std::string>> writes() const override { return ir_ || spec_ ? std::optional(std::vector<std::string>{}) : std::nullopt; }
  int run() override;

 private:
  [[nodiscard]] bool machine_code() const { return cubin_; }
  /// Whether --dump-after can be followed; says why it cannot.
  [[nodiscard]] bool can_dump() const;
  int emit_spec();
  int emit_kernels(Loaded& loaded);
  [[nodiscard]] OrExit<std::vector<compiler::Shape>> shapes_of(const Loaded& loaded, const compiler::Names& scope) const;
  int emit_changed(const Loaded& loaded, const compiler::Shape& shape, jit::Compiler& compiler) const;
  int emit_compiled(const Loaded& loaded, const compiler::Shape& shape, const std::string& text, jit::Compiler& compiler) const;

  Common common_;
  bool cuda_ = false, ptx_ = false, cubin_ = false, ir_ = false, spec_ = false;
  std::string stage_, dump_after_, arch_;
};

void Emit::declare(Options& options) {
  add_spec(options, common_);
  options.add("--cuda", &cuda_, "CUDA text (the default)");
  options.add("--ptx", &ptx_, "the PTX that NVRTC makes of it");
  options.add("--cubin", &cubin_, "machine code of one kernel for --arch, for a disassembler");
  options.add("--ir", &ir_, "the graph of stages, kernels and findings");
  options.add("--spec", &spec_, "the experiment's own text; of a short form, the file that it stands for");
  options.add("--stage", &stage_, "this stage only");
  add_device(options, common_, "whose facts (device.sms, …) the experiment reads: auto, cuda:N, sim:NAME or sim:FILE.toml");
  options.add("--arch", &arch_,
              "with --ptx: for sm_NN, and machine code of it is made too, as a check; without it, PTX for the oldest that NVRTC knows; "
              "with --cubin: whose machine code")
      .checked_by(checked_architecture);
  options.add("--dump-after", &dump_after_, "with --ir: the graph after this pass");
}

std::string Emit::misuse() const {
  if (cuda_ + ptx_ + cubin_ + ir_ + spec_ > 1) return "--cuda, --ptx, --cubin, --ir and --spec: one of them";
  if (cubin_ && arch_.empty()) return "--cubin needs --arch sm_NN";
  if (!arch_.empty() && !ptx_ && !cubin_) return "--arch needs --ptx or --cubin";
  return misuse_of_spec(common_);
}

bool Emit::can_dump() const {
  const auto names = compiler::pass_names();
  if (std::find(names.begin(), names.end(), dump_after_) == names.end()) {
    const auto near = nearest(dump_after_, names);
    print(failure("E0509", fmt::format("there is no pass `{}`: the passes are {}", dump_after_, fmt::join(names, ", ")),
                  near ? fmt::format("did you mean `{}`?", *near) : ""),
          nullptr);
    return false;
  }
  if (ir_) return true;
  print(failure("E0509", "--dump-after is of the graph", fmt::format("write --ir --dump-after {}", dump_after_)), nullptr);
  return false;
}

int Emit::emit_spec() {
  int exit = kDone;
  const auto source = read_spec(common_, exit);
  if (!source) return exit;
  Diagnostics diagnostics;
  const auto formatted = lang::format(*source, diagnostics);
  for (const auto& diagnostic : diagnostics.sorted()) print(diagnostic, &*source);
  if (!formatted) return kSpec;
  print_out("{}", *formatted);
  return kDone;
}

OrExit<std::vector<compiler::Shape>> Emit::shapes_of(const Loaded& loaded, const compiler::Names& scope) const {
  std::vector<compiler::Shape> shapes;
  bool found = stage_.empty();
  for (const auto& each : loaded.program.stages) {
    if (!stage_.empty() && each.name != stage_) continue;
    found = true;
    auto of_stage = compiler::stage_shapes(loaded.program, each, scope);
    if (!of_stage && of_stage.error().code == "E0408" && !each.after.empty()) {  // check has refused names that are none
      print_out("// stage {}: its text depends on what stage {} finds\n", each.name, loaded.program.stages[each.after.front()].name);
      continue;
    }
    if (!of_stage) return refuse(of_stage.error(), &loaded.source, kSpec);
    for (auto& shape : *of_stage) {
      if (std::find(shapes.begin(), shapes.end(), shape) == shapes.end()) shapes.push_back(std::move(shape));
    }
  }
  if (found) return shapes;
  std::vector<std::string_view> names;
  for (const auto& each : loaded.program.stages) names.push_back(each.name);
  const auto near = nearest(stage_, names);
  return refuse(failure("E0508", fmt::format("there is no stage `{}`", stage_), near ? fmt::format("did you mean `{}`?", *near) : ""), nullptr, kSpec);
}

/// What the device runs of a kernel that `transform` changes, behind what was compiled.
int Emit::emit_changed(const Loaded& loaded, const compiler::Shape& shape, jit::Compiler& compiler) const {
  const auto wanted = architecture(arch_).value_or(0);
  const device::Target target{device::Target::Form::Ptx, wanted / 10, wanted % 10};
  const auto changed = measure::compile_file_kernel(compiler, target, {}, shape);
  if (!changed) return refuse(changed.error(), &loaded.source, changed.error().code.starts_with("E05") ? kSpec : kEnvironment);
  print_out("// gexp: after {}\n{}\n", measure::file_heading(shape), changed->image.bytes);
  return kDone;
}

int Emit::emit_compiled(const Loaded& loaded, const compiler::Shape& shape, const std::string& text, jit::Compiler& compiler) const {
  if (shape.file().ends_with(".ptx")) {
    if (machine_code()) {
      return refuse(failure("E0508", shape.span, "PTX of a file is for the driver to compile", "leave --cubin out"), &loaded.source, kSpec);
    }
    print_out("{}\n", text);
    return kDone;
  }
  jit::Request request;
  request.source = text;
  request.name = shape.file();
  request.entry = compiler::kEntry;
  if (shape.of_file()) request = measure::file_request(shape, {});
  const auto wanted = architecture(arch_).value_or(0);
  request.target = {machine_code() ? device::Target::Form::Cubin : device::Target::Form::Ptx, wanted / 10, wanted % 10};
  // What somebody else wrote may take long, or be more than NVRTC bears.
  auto compiled = shape.of_file() ? compiler.compile(request, [] { return interrupted(); }) : compiler.compile(request);
  if (compiled && wanted > 0 && !machine_code()) {  // what stands in `asm` is not looked at before machine code is made
    request.target.form = device::Target::Form::Cubin;
    if (auto machine = compiler.compile(request); !machine) compiled = machine.error();
  }
  if (!compiled) {
    auto problem = shape.of_file() ? measure::why_not_compiled(compiler, shape, request, compiled.error()) : compiled.error();
    if (!shape.of_file()) problem.span = shape.span;
    return refuse(problem, &loaded.source, problem.code.starts_with("E05") ? kSpec : kEnvironment);
  }
  if (shape.registers > 0 && !machine_code()) {
    auto taken = ptx::take_registers(compiled->image.bytes, compiled->image.entry, shape.registers);
    if (!taken) return refuse(taken.error(), &loaded.source, kEnvironment);
    compiled->image.bytes = std::move(*taken);
  }
  std::fwrite(compiled->image.bytes.data(), 1, compiled->image.bytes.size(), stdout);
  if (!machine_code()) print_out("\n");
  return kDone;
}

int Emit::emit_kernels(Loaded& loaded) {
  auto backend = open_device(common_.device, common_.seed.value_or(loaded.program.seed));
  if (!backend && common_.device != "auto") return refuse(backend.error(), nullptr, kEnvironment);
  if (backend) loaded.program.device = device::device_facts((*backend)->device());
  if (!backend || (*backend)->device().kind == "simulated") confine_to({ptx_ || cubin_ ? jit::cache_folder() : std::string()});
  auto scope = compiler::file_scope(loaded.program);
  if (!scope) return refuse(scope.error(), &loaded.source, kSpec);
  const auto shapes = shapes_of(loaded, *scope);
  if (const auto* exit = std::get_if<int>(&shapes)) return *exit;
  const auto& all = std::get<0>(shapes);
  if (machine_code() && all.size() != 1) {
    const char* hint = stage_.empty() ? "name a stage with --stage" : "its sweeps make several; a parameter that leaves one point can be set with --set";
    return refuse(failure("E0508", fmt::format("machine code is written of one kernel, and there are {}", all.size()), hint), nullptr, kSpec);
  }
  std::optional<jit::Compiler> compiler;
  std::optional<MemoryWatch> watch;
  if (compiler::launches_files(loaded.program)) watch.emplace(0);
  for (const auto& shape : all) {
    auto text = compiler::emit_cuda(shape, common_.templates);
    if (!text) return refuse(text.error(), &loaded.source, kSpec);
    if (!ptx_ && !cubin_) {
      if (shape.of_file()) print_out("// gexp: {}\n", measure::file_heading(shape));
      print_out("{}\n", *text);
      continue;
    }
    if (!compiler) {
      auto opened = jit::Compiler::open();
      if (!opened) return refuse(opened.error(), nullptr, kEnvironment);
      compiler.emplace(std::move(*opened));
    }
    if (shape.soft_l1 && machine_code()) {
      return refuse(failure("E0508", shape.span, "what `transform` makes is PTX, for the driver to compile", "write --ptx"), &loaded.source, kSpec);
    }
    if (shape.soft_l1) print_out("// gexp: before {}\n", measure::file_heading(shape));
    if (const int exit = emit_compiled(loaded, shape, *text, *compiler); exit != kDone) return exit;
    if (!shape.soft_l1) continue;
    if (const int exit = emit_changed(loaded, shape, *compiler); exit != kDone) return exit;
  }
  return kDone;
}

int Emit::run() {
  if (!dump_after_.empty() && !can_dump()) return kSpec;
  if (spec_) return emit_spec();
  int exit = kDone;
  auto loaded = load_spec(common_, exit, ir_ && dump_after_.empty() ? std::string(compiler::pass_names().back()) : dump_after_);
  if (!loaded) return exit;
  if (!ir_) return emit_kernels(*loaded);
  print_out("{}", loaded->program.ir);
  return kDone;
}

}  // namespace

std::unique_ptr<Command> new_emit() { return std::make_unique<Emit>(); }

}  // namespace gexp::cli
