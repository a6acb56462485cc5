// SPDX-License-Identifier: Apache-2.0
// total.cu: each thread of a warp follows its own links through shared memory; the warp's whole chain is timed (Mei17 section 6.2).
// holes: name   the kernel's name
//        load   PTX of one load, its destination chained to its address: "ld.shared.u32 %0, [%0];"
//        steps  timed loads a thread, a constant, so that the chain unrolls and holds nothing but loads
//        half   half of them
// work:  warm_steps + 2 * (steps + half) loads a thread; the first pass over each chain warms the instruction cache and is dropped.
//
// Links are addresses in the shared window. A chain's last value is consumed before the second clock. The empty region is what is
// left of the chains when their loads are taken away: twice the half chain less the whole one.
#define GEXP_CHAIN(count, spent)                                                        \
  _Pragma("unroll 1") for (unsigned int pass = 0; pass < 2; ++pass) {                   \
    asm volatile("mov.u32 %0, %%clock;" : "=r"(begin) :: "memory");                     \
    _Pragma("unroll") for (unsigned int i = 0; i < (count); ++i) asm volatile("${load}" : "+r"(link) :: "memory"); \
    asm volatile("add.u32 %0, %0, 0;" : "+r"(link) :: "memory");                        \
    asm volatile("mov.u32 %0, %%clock;" : "=r"(end) :: "memory");                       \
    spent = end - begin;                                                                \
  }

extern "C" __global__ void ${name}(const unsigned int* offsets, const unsigned int* successors, unsigned int links,
                                   const unsigned int* first, unsigned int warm_steps, unsigned int* ticks, unsigned int* empty,
                                   unsigned int* last) {
  extern __shared__ unsigned int memory[];
  const unsigned int window = (unsigned int)__cvta_generic_to_shared(memory);
  for (unsigned int i = threadIdx.x; i < links; i += blockDim.x) memory[offsets[i] / 4] = window + successors[i];
  __syncthreads();
  unsigned int link = window + first[threadIdx.x];
  unsigned int begin, end, whole = 0, part = 0;
  #pragma unroll 1
  for (unsigned int i = 0; i < warm_steps; ++i) asm volatile("${load}" : "+r"(link) :: "memory");
  GEXP_CHAIN(${steps}, whole)
  GEXP_CHAIN(${half}, part)
  if (threadIdx.x % 32 == 0) ticks[threadIdx.x / 32] = whole;
  if (threadIdx.x == 0) {
    for (unsigned int i = 0; i < 16; ++i) empty[i] = ${steps} == 2 * ${half} && 2 * part > whole ? 2 * part - whole : 0;
  }
  last[threadIdx.x] = link - window;
}
