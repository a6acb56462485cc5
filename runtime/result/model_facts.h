// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "compiler/program.h"
#include "runtime/device/model_fact.h"
#include "runtime/result/result.h"

namespace gexp::result {

/// What a result's findings say of a device model, by the expectations of its file: `F == model.X`, `abs(F - model.X) <= tolerance`,
/// `F within 5% of model.X`, and of a limit `F <= model.X`. In the order of the expectations; what was not found has no value.
std::vector<device::ModelFact> model_facts(const compiler::Program& program, const RunResult& result);

/// How many of the expectations that read `model` hold where the structure of a model is `structure`, and how many do not.
struct ModelAgreement {
  std::vector<std::string> held, failed;  ///< texts; of `failed`, with what was observed
};
ModelAgreement agreement_with(const Value& structure, const compiler::Program& program, const RunResult& result);

}  // namespace gexp::result
