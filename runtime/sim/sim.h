// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lang/base/diagnostic.h"
#include "lang/base/result.h"
#include "lang/base/value.h"
#include "runtime/device/backend.h"

/// The simulated GPU: executes the PTX of a kernel against a device model read from a TOML file (docs/device-models.md).
namespace gexp::sim {

/// Names of the models that travel with gexp, sorted: "gtx560ti", …
std::vector<std::string> names();

/// The text of a model: of an embedded one, or of a file when the argument ends in ".toml". E0600 when there is none.
Result<Source> read_model(const std::string& name_or_path);

/// Everything that is wrong with a model, with places in `model`. True: nothing is.
bool check_model(const Source& model, Diagnostics& diagnostics);

/// The model's hierarchy for people to read, in boxes `width` columns wide, at least 60. No record and no finding. An error's span
/// is in `model`.
Result<std::string> draw_model(const Source& model, std::size_t width = 100);

/// What the model says of its structure, by the names that `model.…` has in an expect (lang/dimensions.h). For judging findings, never
/// for making them: nothing of it passes the seam to whoever runs or infers.
Result<Value> structure(const Source& model);

/// "drawn-17": the text of a model that chance made, the same for equal numbers; "drawn-17-noisy": the same device with what
/// an H200 shows, far and near slices, jitter, a tail as of DRAM refresh, other users of the L2; "drawn-17-harsh": with jitter and
/// tail on every load. "drawn-wide-17", with the same endings: of a second family, which has what the first leaves out.
/// Nothing where the name is of neither form. What is
/// drawn, and how widely, model_draw.cpp says.
std::optional<Source> drawn_device(const std::string& name);

struct Options {
  std::uint64_t seed = 0;  ///< mixed with the model's own; equal seeds give equal runs
};

/// Opens a model's device. An error's span is in `model`. `id` becomes the device's: "sim:gtx780".
Result<std::unique_ptr<device::Backend>> open(const Source& model, const std::string& id, const Options& options = {});
/// The same by name or path; an error has no span, its message begins with the place.
Result<std::unique_ptr<device::Backend>> open(const std::string& name_or_path, const Options& options = {});

struct Texture;
/// A texture, or a surface, over memory of a simulated device: the handle that fetches and accesses name.
std::uint64_t bind(device::Backend& backend, const Texture& texture);

/// PTX instructions that this process has simulated so far, for benchmarks.
std::uint64_t instructions_executed();

/// A kernel of a PTX text, as a caller needs to know it.
struct KernelFacts {
  struct Parameter {
    std::uint32_t bytes = 0;
    bool is_float = false;
  };
  std::string name;
  std::vector<Parameter> parameters;
};
/// Names of the kernels of a PTX text, in its order.
std::vector<std::string> kernels_in(const std::string& ptx);
/// One of them. E0801: what the simulator does not know of it.
Result<KernelFacts> kernel_facts(const std::string& ptx, const std::string& name);

/// Ends the launch that runs, and every later one until clear_interrupt(), as Interrupted. Async-signal-safe.
void request_interrupt();
void clear_interrupt();

}  // namespace gexp::sim
