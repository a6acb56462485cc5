// SPDX-License-Identifier: Apache-2.0
#include "compiler/plan/links.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "lang/base/budget.h"
#include "compiler/plan/access.h"

namespace gexp::compiler {
namespace {

constexpr std::int64_t kStepUnits = 2;          // of a link: its entry in a table, and what is written of it
constexpr std::int64_t kLastLink = 0xffffffff;  // an index of 4 bytes
constexpr std::int64_t kFewestLinks = 32;       // that a table has room for
constexpr std::int64_t kLinksAtOnce = 1 << 16;  // that a table has room for before they come: a ring may be longer than is ever followed

}  // namespace

std::optional<Diagnostic> Linker::refused(const Op& chase, std::int64_t step, std::int64_t offset) const {
  const int width = links.width;
  if (offset < 0 || static_cast<std::uint64_t>(offset) + static_cast<std::uint64_t>(width) > bytes_) {
    return failure("E0420", chase.span,
                 fmt::format("step {} of `{}` reads {} B at offset {}, beyond the {} of `{}`", step, chase.pattern, width,
                             offset, show(static_cast<double>(bytes_), kBytes), memory_.name),
                 fmt::format("make `{}` longer or the pattern's span smaller", memory_.name));
  }
  if (link_bytes(width) == 4 && offset / width > kLastLink) {
    return failure("E0420", chase.span, fmt::format("step {} of `{}` is at offset {}, beyond the {} that links of 4 B lead to", step, chase.pattern, offset,
                                                  show(static_cast<double>((kLastLink + 1) * width), kBytes)),
                 "chase `as 8B`");
  }
  if (offset % width != 0) {
    return failure("E0421", chase.span,
                 fmt::format("step {} of `{}` is at offset {}, which is no multiple of the {} B that it reads", step,
                             chase.pattern, offset, width),
                 fmt::format("take offsets that are multiples of {} B, or a narrower load with `as`", width));
  }
  return std::nullopt;
}

// Offsets are multiples of a stride, so their low bits say little: the place is made of the high bits of a product (Knuth, 6.4).
Linker::Link& Linker::link_at(std::int64_t offset) {
  const auto find = [&](std::int64_t wanted) -> Link& {
    const auto size = table_.size();
    auto place = static_cast<std::uint64_t>(wanted) * 0x9e3779b97f4a7c15ull >> (64 - std::countr_zero(size));
    while (table_[place].ring != 0 && table_[place].offset != wanted) place = (place + 1) % size;
    return table_[place];
  };
  if (2 * (links.offsets.size() + 1) > table_.size()) {
    const auto old = std::exchange(table_, std::vector<Link>(2 * table_.size()));
    for (const auto& link : old) {
      if (link.ring != 0) find(link.offset) = link;
    }
  }
  return find(offset);
}

void Linker::make_table(std::int64_t steps) {
  const auto rooms = static_cast<std::size_t>(std::clamp(steps, kFewestLinks, kLinksAtOnce)) + links.offsets.size();
  table_.resize(std::bit_ceil(2 * rooms));
  for (std::size_t i = 0; i < links.offsets.size(); ++i) link_at(links.offsets[i]) = {links.offsets[i], links.targets[i], 1};
  if (!links.offsets.empty()) return;
  links.offsets.reserve(static_cast<std::size_t>(std::min(steps, kLinksAtOnce)));
  links.targets.reserve(links.offsets.capacity());
}

bool Linker::add_rising(const Pattern& ring, std::int64_t last) {
  const auto begin = ring.offsets.begin(), end = begin + ring.steps;
  if (begin == end || *begin < 0 || *(end - 1) > last) return false;
  std::int64_t bits = *begin;
  for (auto at = begin + 1; at != end; ++at) {
    if (*at <= *(at - 1)) return false;
    bits |= *at;
  }
  if ((bits & (links.width - 1)) != 0) return false;
  links.offsets.assign(begin, end);
  links.targets.reserve(links.offsets.size());
  links.targets.assign(begin + 1, end);
  links.targets.push_back(*begin);
  return true;
}

std::optional<Diagnostic> Linker::add(const Op& chase, const Pattern& ring) {
  GEXP_CHECK(std::has_single_bit(static_cast<unsigned>(links.width)));
  auto last = static_cast<std::int64_t>(bytes_) - links.width;  // offset that it can follow
  if (link_bytes(links.width) == 4) last = std::min(last, (kLastLink + 1) * links.width - 1);
  for (std::int64_t thread = 0; thread < ring.threads; ++thread) {
    ++rings_;
    if (!Budget::spend(kStepUnits * ring.steps)) return Budget::exceeded(chase.span);
    if (rings_ == 1 && add_rising(ring, last)) continue;
    if (table_.empty()) make_table(ring.steps);
    std::int64_t offset = 0;
    for (std::int64_t step = 0, next = ring.steps > 0 ? ring.at(thread, 0) : 0; step < ring.steps; ++step) {
      if (!Budget::tick()) return Budget::exceeded(chase.span);
      offset = std::exchange(next, ring.at(thread, step + 1 == ring.steps ? 0 : step + 1));
      if (offset < 0 || offset > last || (offset & (links.width - 1)) != 0) return refused(chase, step, offset);
      auto& link = link_at(offset);
      const bool fresh = link.ring == 0;
      if (fresh) link = {offset, next, 0};
      if (std::exchange(link.ring, rings_) == rings_) {
        return failure("E0422", chase.span, fmt::format("`{}` visits offset {} twice: a link has one successor", chase.pattern, offset),
                     "visit another word of the same line instead, `offset + 1elem`");
      }
      if (link.next != next) {
        return failure("E0423", chase.span,
                     fmt::format("offset {} leads to {} in one ring and to {} in `{}`: a link has one successor", offset,
                                 link.next, next, chase.pattern),
                     "visit another word of the same line in one of the two, `offset + 1elem`");
      }
      if (fresh) {
        links.offsets.push_back(offset);
        links.targets.push_back(next);
      }
    }
  }
  return std::nullopt;
}

}  // namespace gexp::compiler
