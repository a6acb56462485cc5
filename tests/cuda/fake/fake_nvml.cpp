// SPDX-License-Identifier: Apache-2.0
// A stand-in for NVML. FAKE_NVML says what it tells, words separated by commas: other (process 4242 computes there too), hidden (this
// process is numbered 7, once it computes), busy (some process uses 90 % of its time), slow=A-B (from the A-th to the B-th look at its clocks a power cap holds them down).
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "runtime/cuda/nvml.h"

using namespace gexp::cuda;

namespace {

const char* script(const char* word) {
  const char* text = std::getenv("FAKE_NVML");
  return text != nullptr ? std::strstr(text, word) : nullptr;
}

int looks = 0, listed = 0;

bool slow() {
  int from = 0, to = 0;
  const char* at = script("slow=");
  return at != nullptr && std::sscanf(at, "slow=%d-%d", &from, &to) == 2 && looks >= from && looks <= to;
}

}  // namespace

extern "C" {

int nvmlInit_v2() { return 0; }
int nvmlSystemGetDriverVersion(char* text, unsigned size) {
  std::snprintf(text, size, "999.42");
  return 0;
}
int nvmlDeviceGetHandleByUUID(const char* uuid, NvmlDevice** device) {
  *device = reinterpret_cast<NvmlDevice*>(&looks);
  return std::strncmp(uuid, "GPU-", 4) == 0 ? 0 : 6;
}
int nvmlDeviceGetMigMode(NvmlDevice*, unsigned* current, unsigned* pending) {
  *current = *pending = 0;
  return 0;
}
int nvmlDeviceGetPersistenceMode(NvmlDevice*, int* on) {
  *on = 1;
  return 0;
}
int nvmlDeviceGetClockInfo(NvmlDevice*, int which, unsigned* mhz) {
  if (which == 1) ++looks;
  *mhz = which == 2 ? 3201 : slow() ? 1500 : 1980;
  return 0;
}
int nvmlDeviceGetMaxClockInfo(NvmlDevice*, int, unsigned* mhz) {
  *mhz = 1980;
  return 0;
}
int nvmlDeviceGetCurrentClocksEventReasons(NvmlDevice*, unsigned long long* reasons) {
  *reasons = slow() ? 0x4 : 0x1;
  return 0;
}
int nvmlDeviceGetTemperature(NvmlDevice*, int, unsigned* degrees) {
  *degrees = 41;
  return 0;
}
int nvmlDeviceGetUtilizationRates(NvmlDevice*, NvmlUtilisation* busy) {
  *busy = {script("busy") ? 90u : 17u, 3};
  return 0;
}
int nvmlDeviceGetComputeRunningProcesses_v3(NvmlDevice*, unsigned* count, NvmlProcess* list) {
  const bool hidden = script("hidden") != nullptr, computes = ++listed > 1;
  unsigned found = 0;
  if (script("other")) list[found++] = {4242, 1u << 30, 0, 0};
  if (computes) list[found++] = {hidden ? 7u : static_cast<unsigned>(getpid()), ~0ull, 0, 0};
  *count = found;
  return 0;
}
}
