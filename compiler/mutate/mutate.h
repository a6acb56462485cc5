// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lang/ast.h"
#include "lang/base/source.h"

/// Misuse of an experiment, as edits of its text: what a user may do to a file, and an honest experiment must survive.
/// Its claims are then still right, or it says that the records do not decide. What its expectations ask stays the same
/// question.
namespace gexp::compiler {

/// One thing done to a file.
struct Mutation {
  struct Edit {
    Span span;  ///< that is replaced; empty: the text goes in there
    std::string text;
  };
  std::string kind;         ///< one word: "step", "repeat", …
  std::string words;        ///< "stage sets: `sweep extra` in steps of 4 instead of 1"
  std::vector<Edit> edits;  ///< in the order of the text; none reaches into another
  std::string nothing;      ///< a finding that has no records left to go by: whatever it claims is wrong. Empty: none
};

/// Everything that may be done to a file, by kind. Some of it does not compile, or asks for what no device has: who
/// draws looks.
std::vector<Mutation> mutations(const Source& source, const lang::File& file);

/// A file with one mutation, sometimes two.
struct MutatedSpec {
  Source source;                     ///< under the path of the file
  std::vector<std::string> words;    ///< of each mutation
  std::vector<std::string> nothing;  ///< findings without records
};

/// Draws evenly among the kinds, then among the mutations of the kind. Equal seeds give equal files. Nothing where a
/// file can be changed in no way.
std::optional<MutatedSpec> mutate(const Source& source, const std::vector<Mutation>& all, std::uint64_t seed);

}  // namespace gexp::compiler
