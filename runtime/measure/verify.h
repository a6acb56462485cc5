// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/device/backend.h"
#include "runtime/measure/session.h"

/// Whether an experiment can find what it asks for: it is run on many devices whose structure is known, and what it claims is
/// compared with that, by the expectations of its file that read `model`.
namespace gexp::measure {

struct KnownDevice {
  std::unique_ptr<device::Backend> backend;
  Value structure;  ///< what `model` is in an expectation
};
/// The device of a number, as often as asked: equal numbers give equal devices.
using DeviceSource = std::function<Result<KnownDevice>(std::uint64_t number)>;

/// How one expectation came out on one device.
struct Verdict {
  /// NotHere: the device lacks what the expectation reads of `model`, or its `where` leaves the device out: nothing was asked.
  enum class Kind { Right, Wrong, Abstained, NotHere };
  Kind kind = Kind::Abstained;
  double confidence = 0;  ///< a claim's: the least of the findings that it reads
  std::string why;        ///< abstained: the first finding without a value, and its reason; wrong: found against true
  /// What a finding's interval claims of a number of the model, as far as the expectation puts the two side by side.
  struct Interval {
    std::string finding;
    double low = 0, high = 0, truth = 0;
    [[nodiscard]] bool holds() const { return low <= truth && truth <= high; }
  };
  std::vector<Interval> intervals;
  /// The value is another than the model's, but the interval that was claimed holds it. Of a variant alone, which may resolve less
  /// than its file was written for; then it is right.
  bool by_interval = false;
};

/// The experiment as one device is measured by it: with something done to it.
struct Variant {
  compiler::Program program;
  std::string text;                   ///< its file
  std::vector<std::string> words;     ///< what was done
  std::vector<std::string> nothing;   ///< findings that have no records to go by
};
/// The variant for a device; `attempt` counts those that could not be run on it. Nothing where it does not compile.
using VariantSource = std::function<std::optional<Variant>(std::uint64_t number, unsigned attempt)>;

/// One device's verdicts, in the order of `Verification::expectations`.
struct VerifiedDevice {
  std::uint64_t number = 0;
  std::vector<Verdict> verdicts;
  std::string text;                    ///< of a variant: its file
  std::vector<std::string> mutations;  ///< what was done to it
};

struct Verification {
  std::vector<std::string> expectations;  ///< as written
  std::vector<VerifiedDevice> devices;    ///< by number
  double seconds = 0;
};

struct VerifyOptions {
  std::uint64_t first = 1;    ///< number of the first device
  std::size_t devices = 100;
  SessionOptions session;     ///< `jobs`: devices at once
  VariantSource variant;      ///< none: each device is measured by the experiment itself
  std::function<void(std::size_t done)> progress = [](std::size_t) {};
};

/// The expectations that read `model`, by index into `program.expects`.
std::vector<std::size_t> expectations_of_model(const compiler::Program& program);

/// Errors are of the environment, or of the spec on some device; an interrupt ends it with the devices that were done.
Result<Verification> verify(const compiler::Program& program, Kernels& kernels, const DeviceSource& device, const VerifyOptions& options);

}  // namespace gexp::measure
