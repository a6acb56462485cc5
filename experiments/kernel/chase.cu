// SPDX-License-Identifier: Apache-2.0
// A pointer chase as papers print it: one thread follows the links in an array, LAPS times unrecorded and once recorded. The time
// of each load waits in shared memory until the walk is over, so that to keep it leaves the caches alone.
// LAPS: a macro of the experiment, which also gives the links, how many there are, and where the times go.
extern "C" __global__ void chase(const unsigned int* links, unsigned int steps, unsigned int* ticks) {
  extern __shared__ unsigned int trace[];
  unsigned int link = 0, begin, end;
  const unsigned int* at = links;
  for (unsigned int i = 0; i < (LAPS + 1) * steps; ++i) {
    asm volatile("mov.u32 %0, %%clock;" : "=r"(begin) :: "memory");
    asm volatile("ld.global.nc.u32 %0, [%1];" : "=r"(link) : "l"(at) : "memory");
    asm volatile("mad.wide.u32 %0, %1, 4, %2;" : "=l"(at) : "r"(link), "l"(links) : "memory");
    // Never taken: without it the clock may be read before the load has come.
    asm volatile("{ .reg .pred none; setp.eq.u32 none, %0, 0xffffffff; @none trap; }" :: "r"(link) : "memory");
    asm volatile("mov.u32 %0, %%clock;" : "=r"(end) :: "memory");
    if (i >= LAPS * steps) trace[i - LAPS * steps] = end - begin;
  }
  for (unsigned int i = 0; i < steps; ++i) ticks[i] = trace[i];
}
