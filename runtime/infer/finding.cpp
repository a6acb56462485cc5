// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/finding.h"

#include <fmt/format.h>

#include <algorithm>

namespace gexp::infer {

void Finding::withdraw(const std::string& reason) {
  // A structure's fields would fill lines; its name is in the finding's id.
  why = value.get<Fields>() ? fmt::format("it was told, but {}", reason) : fmt::format("{} looked likely: {}", show(value), reason);
  value = {};
  interval.reset();
  status = Status::Undetermined;
  confidence = 0;
}

const char* word(Finding::Status status) {
  switch (status) {
    case Finding::Status::Found: return "found";
    case Finding::Status::Undetermined: return "undetermined";
    case Finding::Status::Assumed: return "assumed";
  }
  return "";
}

Finding* Findings::find(const std::string& id) const {
  const auto at = std::find_if(all.begin(), all.end(), [&](const Finding& finding) { return finding.id == id; });
  return at == all.end() || at->status != Finding::Status::Found ? nullptr : &*at;
}

}  // namespace gexp::infer
