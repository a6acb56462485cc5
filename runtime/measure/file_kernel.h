// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "compiler/codegen/emit.h"
#include "compiler/plan/plan.h"
#include "runtime/device/backend.h"
#include "runtime/jit/compiler.h"
#include "runtime/measure/kernels.h"

/// Kernels of files: compiled with what the spec gives their text, and what their parameters are.
namespace gexp::measure {

/// PTX for the device itself where this NVRTC can write it; else for the oldest that it can.
device::Target own_architecture(const jit::Compiler& compiler, const device::DeviceInfo& device);

/// The request for a shape that is a kernel of a file.
jit::Request file_request(const compiler::Shape& shape, device::Target target);

/// What it is, for a reader of its text: "copy.cu entry copy<32> TILE=4".
std::string file_heading(const compiler::Shape& shape);

/// What a compile of such a request that failed means for the file: E0511, E0513, or an error of another kind as it is.
Diagnostic why_not_compiled(jit::Compiler& compiler, const compiler::Shape& shape, jit::Request request, const Diagnostic& problem);

/// A kernel with the cache that its shape asks for, or as it is. E0514: there is nothing to cache.
Result<jit::Compiled> with_cache(jit::Compiled compiled, const compiler::Shape& shape);

/// Compiles one; PTX stands as it is. `compiled.parameters` says what it takes. E0511: the file has not this kernel. E0513: it does not
/// compile, at the place in the file. Others of jit::Compiler.
Result<jit::Compiled> compile_file_kernel(jit::Compiler& compiler, device::Target target, device::Target own, const compiler::Shape& shape);

/// E0512, at the argument: too many, too few, or of another width than the parameters.
std::optional<Diagnostic> misfit(const compiler::KernelPlan& kernel, const std::vector<jit::PtxParameter>& parameters,
                                 const compiler::Shape& shape);

/// A number as its parameter takes it. E0512: it cannot.
Result<device::Argument> value_argument(const compiler::KernelPlan::Argument& argument, const jit::PtxParameter& parameter);

/// What is wrong with kernels of files, as far as their first points tell, before anything is measured: E0511 to E0513. What a stage
/// reads of others is not known yet; then nothing is said of it.
std::optional<Diagnostic> check_file_kernels(const compiler::Program& program, const compiler::Scope& scope, Kernels& kernels,
                                             const GiveUp& give_up);

}  // namespace gexp::measure
