// SPDX-License-Identifier: Apache-2.0
#include "runtime/measure/device_pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <thread>

#include "lang/base/sha256.h"

namespace gexp::measure {

DevicePool::DevicePool(const compiler::Program& program, const compiler::Scope& scope, device::Backend& backend, Kernels& kernels, std::size_t jobs, GiveUp give_up)
    : program_(program), scope_(scope), backend_(backend), kernels_(kernels), give_up_(std::move(give_up)) {
  if (!backend.another(0)) shared_.emplace(program, scope, backend, kernels, give_up_);
  else workers_ = jobs > 0 ? jobs : std::max(1u, std::thread::hardware_concurrency());
}

void DevicePool::use(std::uint64_t number, const std::function<void(PointRunner&)>& measure) {
  if (shared_) return measure(*shared_);
  const auto device = backend_.another(number);
  PointRunner bench(program_, scope_, *device, kernels_, give_up_);
  measure(bench);
}

std::uint64_t batch_number(const compiler::Stage& stage, const compiler::Coordinates& at, std::size_t first_run) {
  Sha256 hash;
  hash.add_field(stage.name).add_field(fmt::format("{}", first_run));
  for (const auto& [name, value] : at) {
    const auto* n = value.get<Number>();
    hash.add_field(name).add_field(n ? fmt::format("{}", n->number) : show(value));  // fmt keeps every bit of a number
  }
  const auto digits = hash.hex();
  std::uint64_t number = 0;
  std::from_chars(digits.data(), digits.data() + 16, number, 16);
  return number;
}

}  // namespace gexp::measure
