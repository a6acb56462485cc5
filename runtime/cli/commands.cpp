// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "compiler/codegen/emit.h"
#include "compiler/pipeline.h"
#include "compiler/plan/plan.h"
#include "lang/format.h"
#include "lang/parse.h"
#include "runtime/cli/app.h"
#include "runtime/cli/use.h"
#include "runtime/cuda/cuda.h"
#include "runtime/device/facts.h"
#include "runtime/jit/compiler.h"
#include "runtime/sim/sim.h"

namespace gexp::cli {
namespace {

/// A span as editors count: lines and columns from 1, all 0 where it is about no place.
void put_place(nlohmann::ordered_json& into, const Source& source, Span span) {
  const bool nowhere = span.empty() && span.begin == 0;
  const auto begin = nowhere ? Position{0, 0} : source.position(span.begin), end = nowhere ? begin : source.position(span.end);
  into["line"] = begin.line, into["column"] = begin.column, into["end_line"] = end.line, into["end_column"] = end.column;
}

nlohmann::ordered_json diagnostic_json(const Diagnostic& diagnostic, const Source& whole) {
  const auto& source = diagnostic.in ? *diagnostic.in : whole;
  nlohmann::ordered_json made = {{"file", source.path()}, {"code", diagnostic.code},
                                 {"severity", diagnostic.severity == Severity::Error ? "error" : "warning"}, {"message", diagnostic.message}};
  put_place(made, source, diagnostic.span);
  made["hint"] = diagnostic.hint;
  made["notes"] = nlohmann::ordered_json::array();
  for (const auto& note : diagnostic.notes) {
    const auto& in = note.in ? *note.in : whole;
    nlohmann::ordered_json told = {{"message", note.message}, {"file", in.path()}};
    put_place(told, in, note.span);
    made["notes"].push_back(std::move(told));
  }
  return made;
}

}  // namespace

int check_command(const std::vector<std::string>& files, bool json) {
  int exit = kDone;
  auto list = nlohmann::ordered_json::array();
  for (const auto& file : files) {
    const auto path = find_experiment(file);
    auto text = read_file(path);
    if (!text) {
      if (json) list.push_back(diagnostic_json(text.error(), Source(path, "")));
      else print(text.error(), nullptr);
      exit = kSpec;
      continue;
    }
    const Source source(path, std::move(*text));
    Diagnostics diagnostics;
    compiler::Options options;
    options.models = sim::names();
    options.load = load_used;
    if (!compiler::compile(source, options, diagnostics)) exit = kSpec;
    for (const auto& diagnostic : diagnostics.sorted()) {
      if (json) list.push_back(diagnostic_json(diagnostic, source));
      else print(diagnostic, &source);
    }
    if (!json && !diagnostics.has_errors()) fmt::print("{}: fine\n", path);
  }
  // A path may be no UTF-8; JSON is.
  if (json) fmt::print("{}\n", list.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  return exit;
}

std::optional<int> architecture(const std::string& text) {
  if (!text.starts_with("sm_") || text.size() < 5 || text.size() > 6) return std::nullopt;
  if (!std::all_of(text.begin() + 3, text.end(), [](char c) { return c >= '0' && c <= '9'; })) return std::nullopt;
  return std::stoi(text.substr(3));
}

namespace {

/// Whether --dump-after can be followed; says why it cannot.
bool is_pass(const std::string& name, const std::string& form) {
  const auto names = compiler::pass_names();
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    const auto near = nearest(name, names);
    print(failure("E0509", fmt::format("there is no pass `{}`: the passes are {}", name, fmt::join(names, ", ")), near ? fmt::format("did you mean `{}`?", *near) : ""), nullptr);
    return false;
  }
  if (form == "ir") return true;
  print(failure("E0509", "--dump-after is of the graph", fmt::format("write --ir --dump-after {}", name)), nullptr);
  return false;
}

}  // namespace

int emit_command(const Common& common, const std::string& form, const std::string& stage, const std::string& dump_after, const std::string& arch) {
  int exit = kDone;
  if (!dump_after.empty() && !is_pass(dump_after, form)) return kSpec;
  if (form == "spec") {
    const auto source = read_spec(common, exit);
    if (!source) return exit;
    Diagnostics diagnostics;
    const auto formatted = lang::format(*source, diagnostics);
    for (const auto& diagnostic : diagnostics.sorted()) print(diagnostic, &*source);
    if (!formatted) return kSpec;
    fmt::print("{}", *formatted);
    return kDone;
  }
  auto loaded = load_spec(common, exit, dump_after);
  if (!loaded) return exit;
  if (form == "ir") {
    fmt::print("{}", loaded->program.ir);
    return kDone;
  }
  auto backend = open_device(common.device, common.seed.value_or(loaded->program.seed));
  if (!backend && common.device != "auto") {
    print(backend.error(), nullptr);
    return kEnvironment;
  }
  if (backend) loaded->program.device = device::device_facts((*backend)->device());
  auto scope = compiler::file_scope(loaded->program);
  if (!scope) {
    print(scope.error(), &loaded->source);
    return kSpec;
  }
  std::vector<compiler::Shape> shapes;
  bool found = stage.empty();
  for (const auto& each : loaded->program.stages) {
    if (!stage.empty() && each.name != stage) continue;
    found = true;
    auto of_stage = compiler::stage_shapes(loaded->program, each, *scope);
    if (!of_stage && of_stage.error().code == "E0408" && !each.after.empty()) {  // check has refused names that are none
      fmt::print("// stage {}: its text depends on what stage {} finds\n", each.name, loaded->program.stages[each.after.front()].name);
      continue;
    }
    if (!of_stage) {
      print(of_stage.error(), &loaded->source);
      return kSpec;
    }
    for (auto& shape : *of_stage) {
      if (std::find(shapes.begin(), shapes.end(), shape) == shapes.end()) shapes.push_back(std::move(shape));
    }
  }
  if (!found) {
    std::vector<std::string_view> names;
    for (const auto& each : loaded->program.stages) names.push_back(each.name);
    const auto near = nearest(stage, names);
    print(failure("E0508", fmt::format("there is no stage `{}`", stage), near ? fmt::format("did you mean `{}`?", *near) : ""), nullptr);
    return kSpec;
  }
  if (form == "cubin" && shapes.size() != 1) {
    print(failure("E0508", fmt::format("machine code is written of one kernel, and there are {}", shapes.size()), "name a stage with --stage"), nullptr);
    return kSpec;
  }
  std::optional<jit::Compiler> compiler;
  for (const auto& shape : shapes) {
    auto text = compiler::emit_cuda(shape, common.templates);
    if (!text) {
      print(text.error(), &loaded->source);
      return kSpec;
    }
    if (form == "cuda") {
      fmt::print("{}\n", *text);
      continue;
    }
    if (!compiler) {
      auto opened = jit::Compiler::open();
      if (!opened) {
        print(opened.error(), nullptr);
        return kEnvironment;
      }
      compiler.emplace(std::move(*opened));
    }
    jit::Request request;
    request.source = *text;
    request.name = shape.file();
    request.entry = compiler::kEntry;
    const auto wanted = architecture(arch).value_or(0);
    const bool machine_code = form == "cubin";
    request.target = {machine_code ? device::Target::Form::Cubin : device::Target::Form::Ptx, wanted / 10, wanted % 10};
    auto compiled = compiler->compile(request);
    if (compiled && wanted > 0 && !machine_code) {  // what stands in `asm` is not looked at before machine code is made
      request.target.form = device::Target::Form::Cubin;
      if (auto machine = compiler->compile(request); !machine) compiled = machine.error();
    }
    if (!compiled) {
      auto problem = compiled.error();
      problem.span = shape.span;
      print(problem, &loaded->source);
      return kEnvironment;
    }
    std::fwrite(compiled->image.bytes.data(), 1, compiled->image.bytes.size(), stdout);
    if (!machine_code) fmt::print("\n");
  }
  return kDone;
}

namespace {

/// Columns of the terminal on stdout, 100 at most; 100 where there is none.
std::size_t drawing_width() {
  winsize size{};
  const bool told = isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return told ? std::min<std::size_t>(size.ws_col, 100) : 100;
}

int show_device(const std::string& device, bool json) {
  const auto backend = open_device(device, std::nullopt);
  if (!backend) {
    print(backend.error(), nullptr);
    return kEnvironment;
  }
  const auto& info = (*backend)->device();
  if (json) {
    fmt::print("{}\n", nlohmann::ordered_json{{"id", info.id}, {"name", info.name}, {"kind", info.kind}}.dump(1));
  } else if (info.kind != "simulated") {
    fmt::print("{}: {}\n", info.id, info.name);
  } else if (const auto model = sim::read_model(info.id.substr(std::string_view("sim:").size())); model) {
    const auto drawing = sim::draw_model(*model, drawing_width());
    fmt::print("{}", drawing ? *drawing : std::string());
  }
  return kDone;
}

}  // namespace

int devices_command(const std::string& show, bool json) {
  if (!show.empty()) return show_device(show, json);
  auto gpus = cuda::devices();
  auto list = nlohmann::ordered_json::array();
  if (gpus) {
    for (const auto& gpu : *gpus) {
      list.push_back({{"id", gpu.id}, {"name", gpu.name}, {"kind", gpu.kind}});
      if (!json) {
        fmt::print("{:<16} {} (compute {}.{}, {} SMs, driver {})\n", gpu.id, gpu.name, gpu.compute_major, gpu.compute_minor, gpu.sms, gpu.driver);
      }
    }
  } else if (!json) {
    fmt::print("no GPU: {}\n", gpus.error().message);
  }
  for (const auto& name : sim::names()) {
    auto backend = sim::open(name);
    const auto title = backend ? (*backend)->device().name : std::string("(model does not load)");
    list.push_back({{"id", "sim:" + name}, {"name", title}, {"kind", "simulated"}});
    if (!json) fmt::print("{:<16} {}, SIMULATED\n", "sim:" + name, title);
  }
  if (json) fmt::print("{}\n", list.dump(1));
  return kDone;
}

int doctor_command() {
  int exit = kDone;
  const auto nvrtc = jit::describe();
  fmt::print("gexp {}\n\nNVRTC\n", GEXP_VERSION);
  if (nvrtc.problem) {
    fmt::print("  missing: {}\n  {}\n", nvrtc.problem->message, nvrtc.problem->hint);
    exit = kEnvironment;
  } else {
    fmt::print("  {} {}, for sm_{} to sm_{}\n", nvrtc.library, nvrtc.version, nvrtc.architectures.front(), nvrtc.architectures.back());
  }
  for (const auto& other : nvrtc.others) fmt::print("  also here: {} (GEXP_NVRTC chooses)\n", other);
  fmt::print("  kernel cache: {}\n\n", nvrtc.cache_usable ? fmt::format("{} ({} kernels, {})", nvrtc.cache_folder, nvrtc.cached_kernels,
                                                                        show(static_cast<double>(nvrtc.cached_bytes), kBytes))
                                                      : "none that can be written; every kernel is compiled anew");
  fmt::print("GPUs\n");
  auto gpus = cuda::devices();
  if (!gpus) {
    fmt::print("  none: {}\n  {}\n", gpus.error().message, gpus.error().hint);
  } else {
    for (const auto& gpu : *gpus) fmt::print("  {} {} (compute {}.{}, driver {})\n", gpu.id, gpu.name, gpu.compute_major, gpu.compute_minor, gpu.driver);
  }
  fmt::print("\nsimulated devices\n");
  for (const auto& name : sim::names()) {
    auto backend = sim::open(name);
    fmt::print("  sim:{}{}\n", name, backend ? "" : "  DOES NOT LOAD: " + backend.error().message);
    if (!backend) exit = kEnvironment;
  }
  const auto folder = experiments_folder();
  fmt::print("\nexperiments\n  {}\n", folder.empty() ? "the folder that ships was not found (GEXP_EXPERIMENTS names one)" : folder);
  return exit;
}

int list_command() {
  namespace fs = std::filesystem;
  const auto folder = experiments_folder();
  if (folder.empty()) {
    print(failure("E0712", "the folder of experiments that ship was not found", "set GEXP_EXPERIMENTS to it"), nullptr);
    return kEnvironment;
  }
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(folder, error)) {
    if (entry.path().extension() == ".gexp") files.push_back(fs::relative(entry.path(), folder, error).string());
  }
  std::sort(files.begin(), files.end());
  std::size_t width = 0;
  for (const auto& file : files) width = std::max(width, file.size());
  for (const auto& file : files) {
    auto text = read_file(folder + "/" + file);
    std::string doc;
    if (text) {
      Diagnostics ignored;
      doc = lang::parse(Source(file, *text), ignored).doc;
    }
    fmt::print("{:<{}}  {}\n", file, width, doc);
  }
  return kDone;
}

}  // namespace gexp::cli
