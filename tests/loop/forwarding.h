// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>
#include <utility>

#include "runtime/device/backend.h"

namespace gexp::test {

/// Another backend's device as the only one of its kind, as a GPU is: it makes no second one.
class Forwarding : public device::Backend {
 public:
  explicit Forwarding(std::unique_ptr<device::Backend> inner) : inner_(std::move(inner)) {}

  const device::DeviceInfo& device() const override { return inner_->device(); }
  device::Target target() const override { return inner_->target(); }
  Result<> accepts(const device::Requirement& r) const override { return inner_->accepts(r); }
  Result<std::uint64_t> allocate(std::uint64_t bytes, std::uint64_t align, device::Where where) override { return inner_->allocate(bytes, align, where); }
  void release(std::uint64_t address) override { inner_->release(address); }
  Result<> write(std::uint64_t a, std::span<const std::byte> b) override { return inner_->write(a, b); }
  Result<> read(std::uint64_t a, std::span<std::byte> b) override { return inner_->read(a, b); }
  Result<> scatter(std::uint64_t a, std::span<const std::int64_t> o, std::span<const std::uint64_t> v, int w) override { return inner_->scatter(a, o, v, w); }
  Result<> flush(const std::string& level) override { return inner_->flush(level); }
  Result<std::uint64_t> texture(std::uint64_t a, std::uint64_t b, std::uint64_t p) override { return inner_->texture(a, b, p); }
  Result<std::uint64_t> tiles(const device::Tiles& tiles) override { return inner_->tiles(tiles); }
  Result<std::uint64_t> constant(device::KernelId k, const std::string& n) override { return inner_->constant(k, n); }
  Result<device::KernelId> load(const device::KernelImage& image) override { return inner_->load(image); }
  std::optional<std::uint32_t> most_threads(device::KernelId kernel) override { return inner_->most_threads(kernel); }
  device::Outcome launch(device::KernelId k, const device::LaunchShape& s, std::span<const device::Argument> a, double t) override { return inner_->launch(k, s, a, t); }
  std::uint64_t losses() const override { return inner_->losses(); }

 protected:
  std::unique_ptr<device::Backend> inner_;
};

}  // namespace gexp::test
