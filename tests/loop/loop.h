// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "runtime/measure/session.h"
#include "runtime/result/result.h"

namespace gexp::test {

/// One edit of a model's text: `from` must occur in it.
struct Edit {
  std::string from, to;
};

/// The whole loop, as `gexp run` goes through it: an experiment that ships, on a model that ships, edited. A run that cannot be
/// made ends the test.
result::RunResult run_loop(const std::string& experiment, const std::string& model, const std::vector<Edit>& edits = {},
                            std::uint64_t seed = 0);

/// The same for a spec's text.
result::RunResult run_text(const std::string& spec, const std::string& model, const std::vector<Edit>& edits = {}, std::uint64_t seed = 0,
                            const measure::SessionOptions& options = {});

/// The same on a device of the caller's.
result::RunResult run_on(const std::string& spec, device::Backend& backend, const measure::SessionOptions& options = {});

/// A finding's value as text ("12 KiB", "[17, 8]"), or "undetermined: why". `field` of a structured one.
std::string found(const result::RunResult& result, const std::string& id, const std::string& field = {});

/// A field's numbers, in the list's order.
std::vector<double> numbers(const result::RunResult& result, const std::string& id, const std::string& field);

/// How many of a result's expectations ended as `status`.
int count(const result::RunResult& result, result::Judgement::Status status);

}  // namespace gexp::test
