// SPDX-License-Identifier: Apache-2.0
// contention.cu: a block on each multiprocessor. By chance of (round, multiprocessor) it moves data or is idle; the cycles that it took, or 0,
// at the place of its multiprocessor. kind 0: stores; 1: reductions; 2: constants.
__constant__ unsigned table[12288];

__device__ unsigned chance(unsigned x) {
  x ^= x >> 16; x *= 0x7feb352du; x ^= x >> 15; x *= 0x846ca68bu; x ^= x >> 16;
  return x;
}

extern "C" __global__ void contend(unsigned* taken, char* memory, unsigned kind, unsigned round, unsigned turns) {
  unsigned sm, begin = 0, end = 0, sum = 0;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  const bool active = chance(chance(round * 977u + kind * 13u) + sm * 7919u) % 2u == 0;
  char* own = memory + sm * 65536ull;
  for (unsigned pass = 0; active && pass < 2; ++pass) {  // the first one brings lines and code
    __syncthreads();
    asm volatile("mov.u32 %0, %%clock;" : "=r"(begin) :: "memory");
    for (unsigned i = 0; i < turns; ++i) {
      if (kind == 0) {
        char* at = own + (i % 2u) * 32768u + threadIdx.x * 16u;
        asm volatile("st.global.v4.u32 [%0], {%1, %1, %1, %1};" :: "l"(at), "r"(i) : "memory");
        asm volatile("st.global.v4.u32 [%0], {%1, %1, %1, %1};" :: "l"(at + 16384), "r"(i) : "memory");
      } else if (kind == 1) {
        char* at = own + (i % 8u) * 4096u + threadIdx.x / 32u * 128u;
        asm volatile("red.global.add.u32 [%0], 1;" :: "l"(at) : "memory");
      } else {
        sum += table[(i * 16u + threadIdx.x / 32u * 1600u + (sum & 1u)) % 12288u];
      }
    }
    if (sum == 0x12345679u) asm volatile("trap;");
    __syncthreads();
    asm volatile("mov.u32 %0, %%clock;" : "=r"(end) :: "memory");
  }
  if (threadIdx.x == 0) taken[sm] = end - begin;
}
