// SPDX-License-Identifier: Apache-2.0
// chip.cu: one thread a block, as many blocks as multiprocessors. The clock that it reads, at the place of its multiprocessor.
extern "C" __global__ void clock_of_multiprocessor(unsigned* clocks) {
  unsigned now, sm;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(now) :: "memory");
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  clocks[sm] = now;
}
