// SPDX-License-Identifier: Apache-2.0
#include "tests/differential/check.h"

#include <fmt/format.h>

#include "tests/differential/compiler_faults.h"
#include "tests/differential/evaluate.h"
#include "tests/differential/generate.h"
#include "tests/differential/native.h"
#include "tests/differential/print.h"

namespace gexp::differential {
namespace {

bool is_nan(Type type, std::uint64_t bits) {
  if (type == Type::F32) return std::isnan(native<float>(bits));
  return type == Type::F64 && std::isnan(native<double>(bits));
}

std::string show(Type type, std::uint64_t bits) {
  std::string text = fmt::format("0x{:0{}x}", bits, 2 * bytes(type));
  if (type == Type::F32) text += fmt::format(" ({:a})", native<float>(bits));
  if (type == Type::F64) text += fmt::format(" ({:a})", native<double>(bits));
  return text;
}

class Comparison {
 public:
  explicit Comparison(Verdict& verdict) : v_(verdict) {}
  void values(Type type, const std::vector<std::byte>& expected, const std::vector<std::byte>& found, std::uint64_t offset, const std::string& place) {
    std::uint64_t a = 0, b = 0;
    std::memcpy(&a, expected.data() + offset, bytes(type));
    std::memcpy(&b, found.data() + offset, bytes(type));
    ++v_.compared;
    if (a == b || (is_nan(type, a) && is_nan(type, b))) return;
    if (v_.different++ == 0) v_.what = fmt::format("{} ({}): host {}, device {}", place, cuda_name(type), show(type, a), show(type, b));
    v_.kind = Verdict::Kind::Differs;
  }

 private:
  Verdict& v_;
};

void compare(const Program& p, const Memory& expected, const Memory& found, Verdict& verdict) {
  Comparison comparison(verdict);
  for (std::uint32_t t = 0; t < p.threads(); ++t) {
    for (std::size_t v = 0; v < p.variables.size(); ++v)
      comparison.values(p.variables[v].type, expected.output, found.output, p.results + (t * p.variables.size() + v) * 8, fmt::format("thread {}: v{}", t, v));
  }
  for (std::size_t a = 0; a < p.arrays.size(); ++a) {
    const Array& array = p.arrays[a];
    if (array.space != Space::Output && array.space != Space::Counter) continue;
    const bool own = array.space == Space::Output;
    for (std::uint64_t i = 0; i < std::uint64_t{array.pitch} * (own ? p.threads() : 1); ++i) {
      const std::string place = own ? fmt::format("thread {}: a{}[{}]", i / array.pitch, a, i % array.pitch) : fmt::format("a{}[{}]", a, i);
      comparison.values(array.type, own ? expected.output : expected.counters, own ? found.output : found.counters, array.offset + i * bytes(array.type), place);
    }
  }
}

/// A piece of global memory on the device for one launch.
class Buffer {
 public:
  Buffer(device::Backend& backend, std::span<const std::byte> content) : backend_(backend) {
    auto address = backend.allocate(std::max<std::uint64_t>(content.size(), 16), 256);
    if (!address) return;
    address_ = *address;
    ok_ = backend.write(address_, content).ok();
  }
  Buffer(Buffer&& other) noexcept : backend_(other.backend_), address_(std::exchange(other.address_, 0)), ok_(other.ok_) {}
  Buffer& operator=(Buffer&&) = delete;
  ~Buffer() {
    if (address_ != 0) backend_.release(address_);
  }
  bool read(std::span<std::byte> content) { return backend_.read(address_, content).ok(); }
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] device::Argument argument() const { return {address_, 8}; }

 private:
  device::Backend& backend_;
  std::uint64_t address_ = 0;
  bool ok_ = false;
};

std::span<std::byte> bytes_of(Memory& memory, const Piece& piece) {
  auto& all = piece.space == Space::Input ? memory.input : piece.space == Space::Output ? memory.output : memory.counters;
  return std::span(all).subspan(piece.begin, piece.bytes);
}

}  // namespace

Result<Images> compile(jit::Compiler& compiler, std::span<const Program> programs, device::Target target) {
  jit::Request request;
  request.source = print_all(programs);
  request.name = "differential.cu";
  request.entry = programs[0].entry();
  request.target = target;
  request.options = {"--fmad=false", "--disable-warnings"};
  auto compiled = compiler.compile(request);
  if (!compiled) return compiled.error();
  Images made;
  if (compiled->image.form == device::Target::Form::Ptx) {
    auto right = without_compiler_faults(std::move(compiled->image.bytes), compiler.build());
    compiled->image.bytes = std::move(right.ptx), made.corrected = right.corrected;
  }
  made.kernels.assign(programs.size(), compiled->image);
  for (std::size_t i = 0; i < programs.size(); ++i) made.kernels[i].entry = programs[i].entry();
  return made;
}

Verdict check(device::Backend& backend, const device::KernelImage& image, const Program& program) {
  Verdict verdict;
  const auto end = [&](Verdict::Kind kind, const std::string& what) {
    verdict.kind = kind, verdict.what = what;
    return verdict;
  };
  const auto kernel = backend.load(image);
  if (!kernel) return end(Verdict::Kind::Refused, kernel.error().message);
  Memory expected = initial_memory(program);
  std::vector<Buffer> buffers;
  for (const Piece& piece : program.pieces) {
    buffers.emplace_back(backend, bytes_of(expected, piece));
    if (!buffers.back().ok()) return end(Verdict::Kind::Fault, "no memory");
  }
  device::LaunchShape shape;
  shape.block = program.block, shape.grid = program.grid;
  std::vector<device::Argument> numbers{{program.parameter64, 8}, {program.parameter32, 4}}, arguments;
  for (const auto& piece : program.parameters()) {
    arguments.push_back(piece ? buffers[*piece].argument() : numbers.back());
    if (!piece) numbers.pop_back();
  }
  const auto outcome = backend.launch(*kernel, shape, arguments, 60);
  if (!outcome.done()) return end(Verdict::Kind::Fault, outcome.what);
  Memory found = expected;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const Piece& piece = program.pieces[i];
    if (piece.space != Space::Input && !buffers[i].read(bytes_of(found, piece))) return end(Verdict::Kind::Fault, "nothing can be read");
  }
  evaluate(program, expected);
  compare(program, expected, found, verdict);
  return verdict;
}

}  // namespace gexp::differential
