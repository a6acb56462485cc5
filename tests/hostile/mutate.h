// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>

/// Hostile texts from seeds: equal seeds make equal texts.
namespace gexp::hostile {

/// A JSON document with up to four of its values deleted, put elsewhere, or replaced by what no writer of gexp writes; one in
/// eight is damaged as text instead.
std::string mutated_json(const std::string& text, std::uint64_t seed);

/// A device model with up to three of its lines deleted, repeated, moved, or given another value.
std::string mutated_model(const std::string& text, std::uint64_t seed);

}  // namespace gexp::hostile
