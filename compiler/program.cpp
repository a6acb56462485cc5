// SPDX-License-Identifier: Apache-2.0
#include "compiler/program.h"

namespace gexp::compiler {

Stage::Stage() = default;
Stage::Stage(const Stage&) = default;
Stage::Stage(Stage&&) noexcept = default;
Stage& Stage::operator=(const Stage&) = default;
Stage& Stage::operator=(Stage&&) noexcept = default;
Stage::~Stage() = default;

Program::Program() = default;
Program::Program(const Program&) = default;
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(const Program&) = default;
Program& Program::operator=(Program&&) noexcept = default;
Program::~Program() = default;

}  // namespace gexp::compiler
