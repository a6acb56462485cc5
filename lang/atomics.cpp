// SPDX-License-Identifier: Apache-2.0
#include "lang/atomics.h"

#include <array>

#include "lang/named_rows.h"

namespace gexp::lang {
namespace {

constexpr auto kAtomics = std::to_array<Atomic>({
#define GEXP_ATOMIC(...) {__VA_ARGS__},
#include "lang/atomics.def"
});

}  // namespace

std::span<const Atomic> atomics() { return kAtomics; }

const Atomic* find_atomic(std::string_view name) { return find_row(kAtomics, name); }

std::string meant_atomic(std::string_view name) { return meant_row(kAtomics, name); }

}  // namespace gexp::lang
