// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/sim/model_reader.h"
#include "tests/sim/support.h"

namespace sim_test {

/// What the first error of the edited model points at, with its code: "E0602 capacty". "accepted" when there is none.
inline std::string first_error(const gexp::Source& source) {
  gexp::Diagnostics diagnostics;
  if (gexp::sim::read_device_model(source, diagnostics)) return "accepted";
  const auto d = diagnostics.sorted().front();
  CHECK(!d.span.empty());
  // A whole table is shown by its first line.
  const std::string place(source.slice(d.span));
  return d.code + " " + place.substr(0, place.find('\n'));
}
inline std::string first(const std::string& model, const std::string& from, const std::string& to) { return first_error(edited(model, from, to)); }

/// The model as edited, which must be valid.
inline gexp::sim::DeviceModel read(const gexp::Source& source) {
  gexp::Diagnostics diagnostics;
  auto model = gexp::sim::read_device_model(source, diagnostics);
  for (const auto& d : diagnostics.sorted()) FAIL(gexp::render(d, &source));
  return *model;
}

}  // namespace sim_test
