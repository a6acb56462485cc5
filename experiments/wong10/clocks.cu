// SPDX-License-Identifier: Apache-2.0
// clocks.cu: one thread a block. The clock that it reads, at the place of its block or of its multiprocessor.
__device__ unsigned clock_now() { unsigned now; asm volatile("mov.u32 %0, %%clock;" : "=r"(now) :: "memory"); return now; }
__device__ unsigned multiprocessor() { unsigned sm; asm volatile("mov.u32 %0, %%smid;" : "=r"(sm)); return sm; }

extern "C" __global__ void by_block(unsigned* clocks) { clocks[blockIdx.x] = clock_now(); }
extern "C" __global__ void by_multiprocessor(unsigned* clocks) { clocks[multiprocessor()] = clock_now(); }
extern "C" __global__ void multiprocessors(unsigned* numbers) { numbers[blockIdx.x] = multiprocessor(); }
