// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <limits>
#include <string>
#include <vector>

#include "runtime/cli/app.h"
#include "runtime/store/store.h"

namespace gexp::cli {

int results_command(const Common& common, const store::Filter& filter);
/// Names the result `common.file`; "" takes its name away.
int name_command(const Common& common, const std::string& name);

/// Which results go: those named, else those of the filter but the newest `keep`; of these, named ones stay. Running ones stay always.
struct Prune {
  std::vector<std::string> results;
  store::Filter filter;
  std::size_t keep = 0;
  bool dry = false;
};
int prune_command(const Common& common, const Prune& which);

}  // namespace gexp::cli
