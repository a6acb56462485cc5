// SPDX-License-Identifier: Apache-2.0
// total.cu: each thread of a warp follows its own links through shared memory; the warp's whole chain is timed (Mei17 section 6.2).
// holes: name   the kernel's name
//        load   PTX of one load, its destination chained to its address: "ld.shared.u32 %0, [%0];"
// work:  warm_steps + 2 * (steps + steps / 2) loads a thread; the first pass over each chain warms the instruction cache and is
//        dropped. Sixteen loads an iteration: the loop's own few instructions run while a load is under way.
//
// Links are addresses in the shared window. The empty region is what is left of the chains when their loads are taken away: twice
// the half chain less the whole one.
extern "C" __global__ void ${name}(const unsigned int* offsets, const unsigned int* successors, unsigned int links,
                                   const unsigned int* first, unsigned int warm_steps, unsigned int steps, unsigned int zero, unsigned int* ticks, unsigned int* empty,
                                   unsigned int* last) {
  extern __shared__ unsigned int memory[];
  const unsigned int window = (unsigned int)__cvta_generic_to_shared(memory);
  for (unsigned int i = threadIdx.x; i < links; i += blockDim.x) memory[offsets[i] / 4] = window + successors[i];
  __syncthreads();
  unsigned int link = window + first[threadIdx.x];
  unsigned int begin, end, spent[2] = {0, 0};
  #pragma unroll 1
  for (unsigned int i = 0; i < warm_steps; ++i) asm volatile("${load}" : "+r"(link) :: "memory");
  #pragma unroll 1
  for (unsigned int pass = 0; pass < 4; ++pass) {
    const unsigned int count = pass % 2 == 0 ? steps : steps / 2;
    asm volatile("mov.u32 %0, %%clock;" : "=r"(begin) :: "memory");
    #pragma unroll 1
    for (unsigned int i = 0; i < count / 16; ++i) {
      #pragma unroll
      for (unsigned int j = 0; j < 16; ++j) asm volatile("${load}" : "+r"(link) :: "memory");
    }
    #pragma unroll 1
    for (unsigned int i = 0; i < count % 16; ++i) asm volatile("${load}" : "+r"(link) :: "memory");
    asm volatile("add.u32 %0, %0, %1;" : "+r"(link) : "r"(zero) : "memory");
    asm volatile("mov.u32 %0, %%clock;" : "=r"(end) :: "memory");
    spent[pass % 2] = end - begin;
  }
  if (threadIdx.x % 32 == 0) ticks[threadIdx.x / 32] = spent[0];
  if (threadIdx.x == 0) {
    empty[0] = steps % 2 == 0 && 2 * spent[1] > spent[0] ? 2 * spent[1] - spent[0] : 0;
  }
  last[threadIdx.x] = link - window;
}
