// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>
#include <utility>

#include "runtime/backend.h"

namespace gexp::test {

/// Another backend's device as the only one of its kind, as a GPU is: it makes no second one.
class Forwarding : public runtime::Backend {
 public:
  explicit Forwarding(std::unique_ptr<runtime::Backend> inner) : inner_(std::move(inner)) {}

  const runtime::DeviceInfo& device() const override { return inner_->device(); }
  runtime::Target target() const override { return inner_->target(); }
  Result<> accepts(const runtime::Requirement& r) const override { return inner_->accepts(r); }
  Result<std::uint64_t> allocate(std::uint64_t bytes, std::uint64_t align) override { return inner_->allocate(bytes, align); }
  void release(std::uint64_t address) override { inner_->release(address); }
  Result<> write(std::uint64_t a, std::span<const std::byte> b) override { return inner_->write(a, b); }
  Result<> read(std::uint64_t a, std::span<std::byte> b) override { return inner_->read(a, b); }
  Result<> scatter(std::uint64_t a, std::span<const std::int64_t> o, std::span<const std::uint64_t> v, int w) override { return inner_->scatter(a, o, v, w); }
  Result<> flush(const std::string& level) override { return inner_->flush(level); }
  Result<std::uint64_t> texture(std::uint64_t a, std::uint64_t b) override { return inner_->texture(a, b); }
  Result<std::uint64_t> constant(runtime::KernelId k, const std::string& n) override { return inner_->constant(k, n); }
  Result<runtime::KernelId> load(const runtime::KernelImage& image) override { return inner_->load(image); }
  runtime::Outcome launch(runtime::KernelId k, const runtime::LaunchShape& s, std::span<const runtime::Argument> a, double t) override { return inner_->launch(k, s, a, t); }
  std::uint64_t losses() const override { return inner_->losses(); }

 protected:
  std::unique_ptr<runtime::Backend> inner_;
};

}  // namespace gexp::test
