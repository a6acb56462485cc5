// SPDX-License-Identifier: Apache-2.0
#include "tests/differential/soft_l1.h"

#include <algorithm>
#include <iterator>

#include "ptx/soft_l1.h"

namespace gexp::differential {

Result<std::uint32_t> add_soft_l1(device::KernelImage& image, const Program& program) {
  constexpr std::uint32_t kMonitored[] = {0, 1, 7, 40, 300};
  ptx::SoftL1 options;
  options.line = ptx::kSoftL1Lines[program.seed % 4];
  options.threads = program.block;
  options.sm.shared = std::min<std::uint64_t>(program.seed / 4 % 6 * options.line * options.threads + 4096, 40 << 10);
  options.monitor = kMonitored[program.seed / 24 % std::size(kMonitored)];
  options.structures = program.parameters();
  for (const Piece& piece : program.pieces) options.bytes.push_back(std::max<std::uint64_t>(piece.bytes, 16));  // as much is allocated
  auto made = ptx::soft_l1(image.bytes, image.entry, options);
  if (!made) return made.error();
  image.bytes = std::move(made->text);
  return made->loops;
}

}  // namespace gexp::differential
