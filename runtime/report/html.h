// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "compiler/program.h"
#include "runtime/result/figures.h"
#include "runtime/result/result.h"

namespace gexp::report {

inline constexpr std::size_t kHtmlCells = 400'000;  ///< of all rasters of a page

/// A page by itself: no other file, no network. What was found, the spec and where it all comes from are plain HTML; figures are data that
/// the page's script draws.
std::string html(const compiler::Program& program, const result::RunResult& result, const result::Figures& figures);

/// A text as a JSON string.
std::string json_text(const std::string& text);

/// The figures as JSON: series thinned, rasters run-length coded.
std::string figures_json(const result::Figures& figures);

}  // namespace gexp::report
