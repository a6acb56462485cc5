// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/result/checked_json.h"
#include "runtime/result/timeline.h"

/// The member `timeline` of a result file.
namespace gexp::result {

CheckedJson::Json counts_json(const device::Counters& counters);
device::Counters read_counts(const CheckedJson& json);

CheckedJson::Json timeline_json(const Timeline& timeline);
Timeline read_timeline(const CheckedJson& json);

}  // namespace gexp::result
