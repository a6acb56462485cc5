// SPDX-License-Identifier: Apache-2.0
// each.cu: one thread follows links through global memory and times every access (Mei17 section 4.2).
// holes: name      the kernel's name
//        element   type of a link: unsigned int or unsigned long long
//        bytes     its size, 4 or 8: an immediate, so that the timed region holds no other instruction
//        load      PTX of the timed load: "ld.global.ca.u32"
//        chained   the same path, 8 bytes wide, its destination its own address: "ld.global.ca.u64 %0, [%0];"
//        letter    constraint letter of a link's register: r or l
//        placing   further parameters of a kernel that chooses its multiprocessors (compiler/emit.h), or nothing
//        leave     by which blocks on others leave
//        address   PTX that makes the next address of a link, the load's consumer: "mad.wide.u32" or "mad.lo.u64"
// work:  lead_steps + skip + steps loads by one thread, then 416 of the calibration cell; a timed region holds one load and its
//        consumer, nothing else.
//
// A link is the index of the next element. The walk begins with `lead_steps` accesses from `lead_first` (the warm-up, the last
// 64 of them by the instructions that are timed, so that the instruction cache is warm too), goes on with `skip` unrecorded
// and `steps` recorded accesses from `first`. Ticks wait in shared memory, 16 bits each (saturated), until the walk is over: a
// store to global memory would pass through the cache that is measured.
//
// What the region costs besides its load is not seen by taking the load away: a compiler schedules an empty region otherwise,
// and a processor overlaps it otherwise. Nor is it seen in a copy of the region: on an H200 the compiler read the copy's clock by
// another instruction, and the copy took 8 cycles more. So the walk's own instructions go on to a cell whose latency is known,
// 32 times. The cell holds its own address and is loaded in a chain of 4 and of 20, whose difference is 16 latencies and nothing
// else. A conditional trap on the address, never taken, stands before the clock is read after a chain: the read would not wait for
// the chain's last load. All times go to the host, which drops the first: a refresh or an interrupt falls on some of many short
// chains, and on every long one. overhead: 16 times of the short chain, 16 of the long one, 32 of the region.
extern "C" __global__ void ${name}(unsigned long long memory, unsigned long long lead_first, unsigned long long lead_steps,
                                   unsigned long long first, unsigned long long skip, unsigned int steps, unsigned int* ticks,
                                   unsigned long long cell, unsigned int* overhead, ${element}* last${placing}) {
  extern __shared__ unsigned short trace[];
${leave}  const unsigned long long timed = lead_steps + skip;
  const unsigned long long total = timed + steps;
  const unsigned long long hurried = lead_steps < 64 ? 0 : lead_steps - 64;
  unsigned long long at = memory + lead_first * ${bytes};
  ${element} link = 0;
  unsigned int begin, end;
  #pragma unroll 4
  for (unsigned long long i = 0; i < hurried; ++i) {
    asm volatile("${load} %0, [%1];" : "=${letter}"(link) : "l"(at) : "memory");
    asm volatile("${address} %0, %1, ${bytes}, %2;" : "=l"(at) : "${letter}"(link), "l"(memory) : "memory");
  }
  unsigned long long base = memory, self = cell;
  #pragma unroll 1
  for (unsigned long long i = hurried; i < total + 32; ++i) {
    if (i == lead_steps) at = memory + first * ${bytes};
    if (i == total) last[0] = link, base = at = cell + 8;  // holds the index 0: each access comes back to it
    asm volatile("mov.u32 %0, %%clock;" : "=r"(begin) :: "memory");
    asm volatile("${load} %0, [%1];" : "=${letter}"(link) : "l"(at) : "memory");
    asm volatile("${address} %0, %1, ${bytes}, %2;" : "=l"(at) : "${letter}"(link), "l"(base) : "memory");
    asm volatile("mov.u32 %0, %%clock;" : "=r"(end) :: "memory");
    if (i >= total) overhead[32 + (i - total)] = end - begin;
    else if (i >= timed) trace[i - timed] = end - begin < 65535u ? end - begin : 65535u;
  }
  #pragma unroll 1
  for (unsigned int pass = 0; pass < 16; ++pass) {
    asm volatile("mov.u32 %0, %%clock;" : "=r"(begin) :: "memory");
    #pragma unroll
    for (unsigned int i = 0; i < 4; ++i) asm volatile("${chained}" : "+l"(self) :: "memory");
    asm volatile("{ .reg .pred p; setp.eq.u64 p, %0, 0x9e3779b97f4a7c15; @p trap; }" :: "l"(self) : "memory");
    asm volatile("mov.u32 %0, %%clock;" : "=r"(end) :: "memory");
    overhead[pass] = end - begin;
    asm volatile("mov.u32 %0, %%clock;" : "=r"(begin) :: "memory");
    #pragma unroll
    for (unsigned int i = 0; i < 20; ++i) asm volatile("${chained}" : "+l"(self) :: "memory");
    asm volatile("{ .reg .pred p; setp.eq.u64 p, %0, 0x9e3779b97f4a7c15; @p trap; }" :: "l"(self) : "memory");
    asm volatile("mov.u32 %0, %%clock;" : "=r"(end) :: "memory");
    overhead[16 + pass] = end - begin;
  }
  last[1] = link ^ (${element})self;  // nobody reads it: without a use, the loads above would be dropped
  #pragma unroll 1
  for (unsigned int i = 0; i < steps; ++i) ticks[i] = trace[i];
}
