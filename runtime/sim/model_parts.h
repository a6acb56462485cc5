// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "runtime/sim/device_model.h"
#include "runtime/sim/model_table.h"

/// The larger tables of a model file. E0606: a geometry that cannot be.
namespace gexp::sim {

/// No time of a model is longer.
inline constexpr std::uint64_t kMostCycles = 1'000'000;

/// Reports E0606 at `key`, which is of a TPC, if the device's SMs form no clusters.
void check_clusters(ModelTable& table, std::string_view key, const DeviceModel& model);

/// What of a chip a word names: sm, tpc, gpc or device, and nothing larger than `largest`. Reports E0606 where the device has no such parts.
Scope read_scope(ModelTable& table, std::string_view key, Scope largest, const DeviceModel& model);

enum class CacheForm : std::uint8_t { Data, Tlb };

/// [caches] and [tlbs]: one table a cache. A TLB says `page` and `reach` where a cache says `line` and `capacity`. Requires
/// [device] and [shared]; what depends on the latter goes unchecked when it was wrong.
void read_caches(ModelTable& table, CacheForm form, bool shared_known, DeviceModel& model);

/// A list of cache names as indices into `caches`.
std::vector<int> references(ModelTable& table, const char* key, const std::vector<CacheModel>& caches);

/// [paths]: one table a load path, with a latency for every place where the data and their translation can be found.
void read_paths(ModelTable& table, const std::string& default_path, DeviceModel& model);

}  // namespace gexp::sim
