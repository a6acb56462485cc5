// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "runtime/worker/link.h"

namespace gexp::worker {
namespace {

using device::Outcome;

constexpr std::size_t kPiece = std::size_t{64} << 20;  // of a copy: what the worker's and our memory share grows to no more

class WorkerBackend final : public device::Backend {
 public:
  explicit WorkerBackend(std::unique_ptr<Link> link) : link_(std::move(link)), device_(link_->device()) {}

  const device::DeviceInfo& device() const override { return device_; }
  device::Target target() const override { return link_->target(); }
  Result<> accepts(const device::Requirement& requirement) const override {
    return plain(Writer().put(Call::Accepts).put(requirement.kind).text(requirement.path).put(requirement.amount).put(requirement.span));
  }
  Result<std::uint64_t> allocate(std::uint64_t bytes, std::uint64_t align, device::Where where) override {
    return number(Writer().put(Call::Allocate).put(bytes).put(align).put(where));
  }
  void release(std::uint64_t address) override {
    if (link_->running()) (void)plain(Writer().put(Call::Release).put(address));
  }

  Result<> write(std::uint64_t address, std::span<const std::byte> bytes) override {
    for (std::size_t at = 0; at < bytes.size(); at += kPiece) {
      const auto piece = bytes.subspan(at, std::min(kPiece, bytes.size() - at));
      auto shared = link_->room(piece.size());
      if (!shared) return shared.error();
      std::memcpy(shared->data(), piece.data(), piece.size());
      if (auto done = plain(Writer().put(Call::Write).put(address + at).put(std::uint64_t{piece.size()})); !done) return done;
    }
    return Ok{};
  }
  Result<> read(std::uint64_t address, std::span<std::byte> bytes) override {
    for (std::size_t at = 0; at < bytes.size(); at += kPiece) {
      const auto piece = bytes.subspan(at, std::min(kPiece, bytes.size() - at));
      if (auto done = plain(Writer().put(Call::Read).put(address + at).put(std::uint64_t{piece.size()})); !done) return done;
      auto shared = link_->room(piece.size());
      if (!shared) return shared.error();
      std::memcpy(piece.data(), shared->data(), piece.size());
    }
    return Ok{};
  }
  Result<> scatter(std::uint64_t address, std::span<const std::int64_t> offsets, std::span<const std::uint64_t> values, int width) override {
    auto shared = link_->room(16 * offsets.size());
    if (!shared) return shared.error();
    std::memcpy(shared->data(), offsets.data(), offsets.size_bytes());
    std::memcpy(shared->data() + offsets.size_bytes(), values.data(), values.size_bytes());
    return plain(Writer().put(Call::Scatter).put(address).put(std::uint64_t{offsets.size()}).put(width));
  }

  Result<> flush(const std::string& level) override { return plain(Writer().put(Call::Flush).text(level)); }
  Result<std::uint64_t> texture(std::uint64_t address, std::uint64_t bytes, std::uint64_t pitch) override {
    return number(Writer().put(Call::Texture).put(address).put(bytes).put(pitch));
  }
  Result<std::uint64_t> tiles(const device::Tiles& tiles) override { return number(Writer().put(Call::Tiles).put(tiles)); }
  Result<std::uint64_t> constant(device::KernelId kernel, const std::string& name) override {
    GEXP_CHECK(kernel < kernels_.size());
    return number(Writer().put(Call::Constant).put(kernels_[kernel].id).text(name));
  }

  Result<device::KernelId> load(const device::KernelImage& image) override {
    auto shared = link_->room(image.bytes.size());
    if (!shared) return shared.error();
    std::memcpy(shared->data(), image.bytes.data(), image.bytes.size());
    auto answer = link_->answer(Writer().put(Call::Load).put(image.form).text(image.entry).put(std::uint64_t{image.bytes.size()}));
    if (!answer) return answer.error();
    kernels_.push_back({answer->get<device::KernelId>(), link_->losses()});
    return static_cast<device::KernelId>(kernels_.size() - 1);
  }

  std::optional<std::uint32_t> most_threads(device::KernelId kernel) override {
    GEXP_CHECK(kernel < kernels_.size());
    if (kernels_[kernel].losses != link_->losses()) return std::nullopt;
    auto most = number(Writer().put(Call::MostThreads).put(kernels_[kernel].id));
    return most && *most > 0 ? std::optional(static_cast<std::uint32_t>(*most)) : std::nullopt;
  }

  Outcome launch(device::KernelId kernel, const device::LaunchShape& shape, std::span<const device::Argument> arguments, double time_limit) override {
    GEXP_CHECK(kernel < kernels_.size());
    if (link_->interrupted()) return {Outcome::Status::Interrupted, "interrupted before the launch", 0};
    if (kernels_[kernel].losses != link_->losses()) return {Outcome::Status::Fault, "the kernel was loaded before a fault and must be loaded again", 0};
    Writer call;
    call.put(Call::Launch).put(kernels_[kernel].id).put(shape).put(time_limit).put(static_cast<std::uint32_t>(arguments.size()));
    for (const auto& argument : arguments) call.put(argument);
    auto heard = link_->ask(call, time_limit + link_->grace());
    if (heard.answer) return get_outcome(*heard.answer);
    const auto& what = heard.answer.error().message;
    switch (heard.end) {
      case Link::End::Interrupted: return {Outcome::Status::Interrupted, what, 0};
      case Link::End::TimedOut: return {Outcome::Status::Timeout, what, 0};
      case Link::End::Died: return {Outcome::Status::Fault, what + " while the kernel ran", 0};
      case Link::End::Answered:
      case Link::End::NoWorker: break;
    }
    return {Outcome::Status::Fault, what, 0};
  }
  std::optional<device::Condition> condition(bool brief) override {
    if (!link_->running()) return std::nullopt;  // it is not worth a new worker
    auto answer = link_->answer(Writer().put(Call::Condition).put(brief));
    if (!answer || !answer->get<bool>()) return std::nullopt;
    return get_condition(*answer);
  }
  std::uint64_t losses() const override { return link_->losses(); }
  bool usable() const override { return link_->usable(); }

 private:
  struct Loaded {
    device::KernelId id;  ///< the worker's
    std::uint64_t losses;  ///< when it was loaded
  };

  Result<> plain(const Writer& call) const {
    auto answer = link_->answer(call);
    return answer ? Result<>(Ok{}) : Result<>(answer.error());
  }
  Result<std::uint64_t> number(const Writer& call) const {
    auto answer = link_->answer(call);
    if (!answer) return answer.error();
    return answer->get<std::uint64_t>();
  }

  std::unique_ptr<Link> link_;
  device::DeviceInfo device_;
  std::vector<Loaded> kernels_;
};

}  // namespace

Result<std::unique_ptr<device::Backend>> open(Options options) {
  auto link = std::make_unique<Link>(std::move(options));
  if (auto started = link->start(); !started) return started.error();
  return std::unique_ptr<device::Backend>(std::make_unique<WorkerBackend>(std::move(link)));
}

}  // namespace gexp::worker
