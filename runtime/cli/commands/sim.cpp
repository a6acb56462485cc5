// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "lang/base/files.h"
#include "lang/base/units.h"
#include "lang/base/visible.h"
#include "runtime/cli/drawn_part.h"
#include "runtime/cli/kernel_arguments.h"
#include "runtime/cli/last_resort.h"
#include "runtime/cli/observed_text.h"
#include "runtime/cli/output.h"
#include "runtime/cli/run.h"
#include "runtime/cli/sandbox.h"
#include "runtime/cli/shared_options.h"
#include "runtime/cli/texture_argument.h"
#include "runtime/jit/compiler.h"
#include "runtime/jit/ptx_entries.h"
#include "runtime/report/timeline_svg.h"
#include "runtime/sim/observed.h"
#include "runtime/sim/sim.h"

// Any kernel on a simulated device: no experiment, no host program, no GPU.
namespace gexp::cli {
namespace {

constexpr std::size_t kShown = 8;               // elements of an array that changed
constexpr std::size_t kShownWhole = 4096;       // of one that is to be shown
constexpr std::uint64_t kMostBytes = 1ull << 30;  // of an argument: it is held three times
constexpr std::uint64_t kMostKernelBytes = 64u << 20;
constexpr double kSeconds = 600;

/// "4", "4x2", "4x2x1".
std::optional<device::Extent> extent(const std::string& text) {
  std::vector<std::uint32_t> along;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (;;) {
    std::uint32_t number = 0;
    const auto [rest, error] = std::from_chars(at, end, number);
    if (error != std::errc{} || number == 0 || along.size() == 3) return std::nullopt;
    along.push_back(number);
    if (rest == end) break;
    if (*rest != 'x') return std::nullopt;
    at = rest + 1;
  }
  along.resize(3, 1);
  return device::Extent(along[0], along[1], along[2]);
}

std::string checked_extent(const std::string& text) { return extent(text) ? "" : text + " is no extent: write 4, 4x2 or 4x2x1"; }

std::string show_extent(const device::Extent& e) {
  if (e.z > 1) return fmt::format("{} x {} x {}", e.x, e.y, e.z);
  return e.y > 1 ? fmt::format("{} x {}", e.x, e.y) : fmt::format("{}", e.x);
}

/// What the kernel's threads printed, visible whatever it is, and apart from what gexp says.
std::string printed_text(const sim::Observed& observed) {
  if (observed.printed.empty()) return {};
  std::string text;
  for (std::string_view rest = observed.printed; !rest.empty();) {
    const auto line = rest.substr(0, rest.find('\n'));
    text += fmt::format("  | {}\n", visible(line));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
  }
  if (observed.printed_cut) text += fmt::format("  … and more: the first {} B are kept\n", sim::kMostPrinted);
  return text + "\n";
}

/// The part of the launches that a report would draw, by itself.
std::string picture(const std::vector<sim::Observed>& launches, const sim::Counters& counters, const Places& places, const std::string& of) {
  constexpr const char* kNothing = "<svg xmlns=\"http://www.w3.org/2000/svg\"/>";
  const auto drawn = launches.empty() ? "" : report::timeline_svg(drawn_part(launches, counters, places, of));
  return (drawn.empty() ? kNothing : drawn) + "\n";
}

/// "2=out.bin".
struct SavedArray {
  std::size_t argument = 0;
  std::string file;
};

class Sim final : public Command {
 public:
  void declare(Options& options) override;
  [[nodiscard]] std::string misuse() const override;
  [[nodiscard]] std::optional<std::vector<std::string>> writes() const override { return std::nullopt; }  // once NVRTC's place is known
  int run() override;

 private:
  struct Launched {
    std::vector<KernelArgument> arguments;
    std::vector<std::vector<std::byte>> after;  ///< of arrays
    device::Outcome outcome;
  };

  [[nodiscard]] Result<std::string> ptx(const device::DeviceInfo& device) const;
  [[nodiscard]] Result<std::string> compiled(const std::string& text, const device::DeviceInfo& device, jit::Compiler& compiler) const;
  [[nodiscard]] Result<std::string> entry(const std::string& ptx) const;
  [[nodiscard]] Result<Launched> launch(device::Backend& backend, const std::string& ptx, const sim::KernelFacts& kernel, double seconds) const;
  [[nodiscard]] std::string shown_arguments(const Launched& launched) const;
  [[nodiscard]] Json json(const Launched& launched, const sim::Observed& observed, const Places& places, const std::string& kernel) const;
  [[nodiscard]] Result<> may_write_all() const;
  [[nodiscard]] Result<> save(const Launched& launched) const;
  int simulate();

  Common common_;
  std::vector<std::string> arguments_, show_, save_, define_;
  std::string entry_, grid_ = "1", block_ = "1", timeline_;
  std::uint64_t shared_ = 0, seed_ = 0, busiest_ = 5;
  std::vector<SavedArray> saves_;
  std::vector<std::size_t> shows_;
};

void Sim::declare(Options& options) {
  common_.device = "sim:h200";
  options.add("file", &common_.file, "the kernel: FILE.cu, device code that NVRTC compiles, or FILE.ptx").must_be_given().offers(Offers::Files);
  options.add("arguments", &arguments_,
              "what the kernel is given, in order: 1024, 2.5, f32=2.5, and arrays: u32[1024] (zeros), u32[1024]=7, =1,2,3, =index, =random, =@FILE");
  options.add("--entry", &entry_, "which kernel, where the file has several");
  options.add("--grid", &grid_, "blocks: 4, 4x2 or 4x2x1").shows_default().checked_by(checked_extent);
  options.add("--block", &block_, "threads of a block: 256, 16x16 or 8x8x4").shows_default().checked_by(checked_extent);
  options.add("--shared", &shared_, "bytes of dynamic shared memory").between(0, 1u << 30);
  options.add("--define", &define_, "NAME=VALUE: a macro of a .cu file");
  options.add("--device", &common_.device, "sim:NAME or sim:FILE.toml").shows_default().offers(Offers::Devices);
  options.add("--seed", &seed_, "of =random, and of what chance decides on the device");
  options.add("--show", &show_, "the number of an argument, from 0: its array whole");
  options.add("--save", &save_, "NUMBER=FILE: the array's bytes afterwards").offers(Offers::Files);
  options.add("--timeline", &timeline_, "what each warp did when: FILE.svg, a picture; any other name: JSON for Chrome's trace viewer or Perfetto").offers(Offers::Files);
  options.add("--lines", &busiest_, "how many lines of the kernel to show: those at which warps waited longest").shows_default();
  options.add("--json", &common_.json, "all of it as JSON");
  add_time_limit(options, common_, "seconds after which it ends; 600 by default");
  add_memory_limit(options, common_);
}

std::string Sim::misuse() const {
  if (!common_.device.starts_with("sim:")) return fmt::format("--device {}: gexp sim runs on simulated devices, sim:NAME or sim:FILE.toml", common_.device);
  const auto number = [&](const std::string& text) {
    return !text.empty() && text.size() < 4 && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; }) && std::stoul(text) < arguments_.size();
  };
  for (const auto& text : show_) {
    if (!number(text)) return fmt::format("--show {}: there is no argument of that number; the first is 0", text);
  }
  for (const auto& text : save_) {
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals + 1 == text.size() || !number(text.substr(0, equals))) return fmt::format("--save {}: write the number of an argument, from 0, and a file: 1=out.bin", text);
  }
  return {};
}

Result<std::string> Sim::compiled(const std::string& text, const device::DeviceInfo& device, jit::Compiler& compiler) const {
  jit::Request request;
  request.source = text;
  request.name = std::filesystem::path(common_.file).filename().string();
  const int own = device.compute_major * 10 + device.compute_minor;
  const auto& known = compiler.architectures();
  if (std::find(known.begin(), known.end(), own) != known.end()) request.target = {device::Target::Form::Ptx, own / 10, own % 10};
  request.options = {"--generate-line-info"};
  for (const auto& macro : define_) request.options.push_back("--define-macro=" + macro);
  auto made = compiler.compile(request, [] { return !Budget::go_on(); });
  if (!made) {
    auto problem = made.error();
    if (problem.code == "E0702") problem.hint = "NVRTC compiles device code alone: leave out the host's code and its headers";
    return problem;
  }
  return std::move(made->image.bytes);
}

Result<std::string> Sim::ptx(const device::DeviceInfo& device) const {
  auto text = read_regular_file(common_.file, kMostKernelBytes);
  if (!text) return text.error();
  const auto extension = std::filesystem::path(common_.file).extension();
  std::vector<std::string> writes{timeline_};
  for (const SavedArray& save : saves_) writes.push_back(save.file);
  if (extension == ".ptx") {
    confine_to(writes);
    return text;
  }
  if (extension != ".cu") return failure("E0510", fmt::format("{} is no kernel", common_.file), "name a file that ends in .cu or .ptx");
  auto compiler = jit::Compiler::open();
  if (!compiler) return compiler.error();
  writes.push_back(compiler->cache_folder());
  confine_to(writes);
  return compiled(*text, device, *compiler);
}

Result<std::string> Sim::entry(const std::string& ptx) const {
  const auto names = sim::kernels_in(ptx);
  if (names.empty()) return failure("E0510", fmt::format("{} has no kernel", common_.file), "a kernel of CUDA is a __global__ function, one of PTX an .entry");
  std::vector<std::string> fitting, readables;
  for (const auto& name : names) {
    readables.push_back(jit::readable_name(name));
    if (entry_.empty() || entry_ == name || entry_ == readables.back() || entry_ == jit::short_name(name)) fitting.push_back(name);
  }
  if (fitting.size() == 1) return fitting.front();
  const std::string there = fmt::format("the kernels are: {}", fmt::join(readables, "; "));
  if (entry_.empty()) return failure("E0510", fmt::format("{} has {} kernels", common_.file, names.size()), "name one with --entry; " + there);
  return failure("E0510", fmt::format("{} has {} kernel `{}`", common_.file, fitting.empty() ? "no" : "more than one", entry_), there);
}

Result<Sim::Launched> Sim::launch(device::Backend& backend, const std::string& ptx, const sim::KernelFacts& kernel, double seconds) const {
  Launched launched;
  if (arguments_.size() != kernel.parameters.size())
    return failure("E0510", fmt::format("`{}` takes {} arguments, {} were given", jit::readable_name(kernel.name), kernel.parameters.size(), arguments_.size()));
  const auto loaded = backend.load({device::Target::Form::Ptx, ptx, kernel.name});
  if (!loaded) return loaded.error();
  std::vector<device::Argument> passed;
  std::vector<std::uint64_t> addresses;
  for (std::size_t k = 0; k < arguments_.size(); ++k) {
    auto texture = read_texture_argument(arguments_[k]);
    if (!texture) return texture.error();
    auto argument = read_kernel_argument(*texture ? (*texture)->array : arguments_[k], seed_ + k, std::min(kMostBytes, Budget::own()->memory() / 4));
    if (!argument) return argument.error();
    argument->text = arguments_[k];
    if (!Budget::spend_bytes(2 * argument->content.size())) return Budget::exceeded({});  // on the device, and what is read from there
    const auto bytes = kernel.parameters[k].bytes;
    if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8)
      return failure("E0510", fmt::format("parameter {} of `{}` has {} B: structures cannot be given", k, jit::readable_name(kernel.name), bytes));
    if (argument->is_array && bytes != 8) return failure("E0510", fmt::format("`{}`: parameter {} of `{}` is a value of {} B, no pointer", arguments_[k], k, jit::readable_name(kernel.name), bytes));
    std::uint64_t bits = 0;
    if (argument->is_array) {
      const auto address = backend.allocate(argument->content.size(), 256);
      if (!address) return address.error();
      if (auto written = backend.write(*address, argument->content); !written) return written.error();
      bits = *address;
    } else {
      const auto value = value_for(*argument, bytes, kernel.parameters[k].is_float);
      if (!value) return value.error();
      bits = *value;
    }
    addresses.push_back(bits);
    if (*texture) (*texture)->texture.address = bits, bits = sim::bind(backend, (*texture)->texture);
    passed.push_back({bits, static_cast<std::uint8_t>(bytes)});
    launched.arguments.push_back(std::move(*argument));
  }
  for (const SavedArray& save : saves_) {
    if (!launched.arguments[save.argument].is_array) return failure("E0510", fmt::format("--save {}={}: argument {} is no array", save.argument, save.file, save.argument));
  }
  sim::observe(backend, timeline_.empty() ? 0 : kMostSpans);
  device::LaunchShape shape;
  shape.grid = *extent(grid_), shape.block = *extent(block_);
  shape.shared_bytes = static_cast<std::uint32_t>(shared_);
  launched.outcome = backend.launch(*loaded, shape, passed, seconds);
  for (std::size_t k = 0; k < launched.arguments.size(); ++k) {
    auto& after = launched.after.emplace_back(launched.arguments[k].is_array ? launched.arguments[k].content.size() : 0);
    if (auto read = backend.read(addresses[k], after); !read && !after.empty()) return read.error();
  }
  return launched;
}

std::string Sim::shown_arguments(const Launched& launched) const {
  std::string text;
  for (std::size_t k = 0; k < launched.arguments.size(); ++k) {
    const KernelArgument& a = launched.arguments[k];
    const auto whole = std::find(shows_.begin(), shows_.end(), k) != shows_.end();
    std::string what = "a value";
    if (a.is_array) {
      const Change change = changed(a.type, a.content, launched.after[k]);
      const std::size_t all = a.content.size() / a.type.bytes, first = whole ? 0 : change.first;
      what = change.elements == 0 ? "as it was" : fmt::format("{} of {} elements changed", change.elements, all);
      if (whole || change.elements > 0)
        what += fmt::format("{}: {}", first > 0 ? fmt::format(", from [{}] on", first) : "", show_elements(a.type, launched.after[k], first, whole ? kShownWhole : kShown));
    }
    text += fmt::format("  {}  {}  {}\n", k, a.text, what);
  }
  return text;
}

Json Sim::json(const Launched& launched, const sim::Observed& observed, const Places& places, const std::string& kernel) const {
  Json arguments = Json::array();
  for (std::size_t k = 0; k < launched.arguments.size(); ++k) {
    const KernelArgument& a = launched.arguments[k];
    Json argument{{"given", a.text}};
    if (a.is_array) {
      const Change change = changed(a.type, a.content, launched.after[k]);
      argument["changed"] = change.elements;
      argument["first"] = change.first;
      argument["values"] = show_elements(a.type, launched.after[k], change.first, kShown);
    }
    arguments.push_back(std::move(argument));
  }
  return Json{{"kernel", jit::readable_name(kernel)}, {"device", common_.device}, {"grid", grid_}, {"block", block_}, {"printed", observed.printed}, {"done", launched.outcome.done()}, {"what", launched.outcome.what},
          {"arguments", arguments}, {"counters", counters_json(observed, places)}};
}

Result<> Sim::save(const Launched& launched) const {
  for (const SavedArray& save : saves_) {
    const auto& bytes = launched.after[save.argument];
    if (auto done = write_file(save.file, std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size())); !done) return done;
  }
  return Ok{};
}

/// Asked before anything is simulated, so that no result is lost for want of a place.
Result<> Sim::may_write_all() const {
  std::vector<std::string> read{common_.file, common_.device.substr(std::string_view("sim:").size())}, files;
  for (const auto& text : arguments_) {
    if (const auto at = text.find("=@"); at != std::string::npos) read.push_back(text.substr(at + 2));
  }
  for (const SavedArray& save : saves_) files.push_back(save.file);
  if (!timeline_.empty()) files.push_back(timeline_);
  for (const auto& file : files) {
    if (std::count(files.begin(), files.end(), file) > 1)
      return failure("E0710", fmt::format("{} would be written twice", file),
                     "name a file of its own for each --save and for --timeline");
    for (const auto& source : read) {
      if (auto fine = may_write(file, source); !fine) return fine;
    }
    if (auto fine = check_writable(file); !fine) return fine;
  }
  return Ok{};
}

int Sim::simulate() {
  if (const auto fine = may_write_all(); !fine) return refuse(fine.error(), nullptr, kEnvironment);
  std::optional<LastResort> last_resort(std::in_place, *Budget::own());  // nothing is written before the launch has ended
  auto backend = open_device(common_.device, seed_);
  if (!backend) return refuse(backend.error(), nullptr, kEnvironment);
  const auto text = ptx((*backend)->device());
  if (!text) return refuse(text.error(), nullptr, interrupted() ? kInterrupted : text.error().code.starts_with("E07") && text.error().code != "E0702" ? kEnvironment : kSpec);
  const auto name = entry(*text);
  if (!name) return refuse(name.error(), nullptr, kSpec);
  const auto kernel = sim::kernel_facts(*text, *name);
  if (!kernel) return refuse(kernel.error(), nullptr, kSpec);
  const auto launched = launch(**backend, *text, *kernel, common_.time_limit.value_or(kSeconds));
  if (!launched) return refuse(launched.error(), nullptr, kSpec);

  last_resort.reset();
  static const sim::Observed nothing;  // of a launch that was refused
  const auto& launches = sim::observed(**backend);
  const sim::Observed& observed = launches.empty() ? nothing : launches.back();
  const auto file = std::filesystem::path(common_.file).filename().string();
  const bool from_source = common_.file.ends_with(".cu");
  const Places places{from_source ? "PTX" : file, file, from_source ? source_lines(*text) : std::vector<std::uint32_t>{}};
  const auto saved = save(*launched);
  if (!saved) print(saved.error(), nullptr);
  bool traced = true;
  if (!timeline_.empty()) {
    const auto of = jit::readable_name(*name);
    const auto done = write_file(timeline_, timeline_.ends_with(".svg") ? picture(launches, sim::counted(**backend), places, of) : trace_events(launches, places, of));
    if (!done) print(done.error(), nullptr), traced = false;
  }
  if (common_.json) {
    print_out("{}\n", json(*launched, observed, places, *name).text());
  } else {
    print_out("SIMULATED: {} with {} blocks of {} threads on {}\n\n{}\n{}", jit::readable_name(*name), show_extent(*extent(grid_)), show_extent(*extent(block_)), common_.device,
              printed_text(observed) + shown_arguments(*launched), counters_text(observed, places, (*backend)->device().sm_clock_hz, busiest_));
    if (observed.timeline_cut) print_out("the timeline holds the first {} of what warps did\n", kMostSpans);
  }
  if (!launched->outcome.done()) {
    print(failure("E0803", fmt::format("the kernel did not end well: {}", launched->outcome.what)), nullptr);
    return launched->outcome.status == device::Outcome::Status::Interrupted ? kInterrupted : kFault;
  }
  return saved && traced ? kDone : kEnvironment;
}

int Sim::run() {
  for (const auto& text : show_) shows_.push_back(std::stoul(text));
  for (const auto& text : save_) saves_.push_back({std::stoul(text), text.substr(text.find('=') + 1)});
  catch_interrupts();
  const Budget limits(limits_of(common_, common_.time_limit.value_or(kSeconds)));
  const Budget::Use use(limits);
  return simulate();
}

}  // namespace

std::unique_ptr<Command> new_sim() { return std::make_unique<Sim>(); }

}  // namespace gexp::cli
