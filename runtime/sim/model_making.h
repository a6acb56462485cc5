// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "lang/base/result.h"
#include "lang/base/source.h"
#include "runtime/device/backend.h"
#include "runtime/device/model_fact.h"

namespace gexp::sim {

/// A device model that measurements made of another one.
struct MadeModel {
  struct Change {
    std::string key, was, now, from;  ///< "caches.l1.line", "" where it was not there, "128", "l1: line.b, 99.9 %"
  };
  struct Leftover {
    std::string fact, why;  ///< what was found and did not become a part of the model
  };
  Source model;
  std::vector<Change> changes;
  std::vector<Leftover> left;
  std::vector<std::string> unknown;  ///< facts that were asked and not found: the base's values stand
};

/// The base model with what was found of a device in place of its own values, each with its finding under `found`. A fact that would
/// make an impossible model is left out, and named. `device`: what its driver told. Errors: the base is no model.
Result<MadeModel> make_model(const Source& base, const std::string& base_name, const std::string& name, const std::vector<device::ModelFact>& facts,
                             const device::DeviceInfo& device);

}  // namespace gexp::sim
