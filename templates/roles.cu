// SPDX-License-Identifier: Apache-2.0
// roles.cu: several bodies in one launch, by different blocks or by different warps of a block; each is timed as in body.cu.
// holes: name        the kernel's name
//        constants   arrays in constant memory
//        parameters  further parameters, by role: r0_first, …, then what its body reads
//        claims      which role a block takes, by the multiprocessor that it is on
//        roles       the bodies (compiler/codegen/roles.cpp)
// work:  of each role that of body.cu; besides, at its begin and its end each waits until all have come there.
//
// A device puts blocks where it likes. So more are launched than are wanted where a role has a place: a block looks where it is, takes a
// role that may run there, and leaves where there is none. Nobody begins before every role has its blocks: all of them then run at once,
// and none is waited for in vain. Words of control: 1 blocks that have looked, 2 that took a role, 3 the verdict (1 all there, 2 some role
// was left without blocks, 3 some never came), 4 the first role's multiprocessor and 1, 5 the flag that was waited for too long and 1,
// 6 where rehearsed signals go, 7 zero, 8 on how many blocks looked for each role, 16 who has come to the begin, 17 to the end,
// 18 the cluster of the first role's block;
// from 64 on a flag each 64 words.
typedef unsigned int u32;
typedef unsigned long long u64;
__device__ __forceinline__ long long gexp_div(long long a, long long b) { const long long q = a / b; return q * b > a ? q - 1 : q; }
__device__ __forceinline__ long long gexp_mod(long long a, long long b) { const long long r = a % b; return r < 0 ? r + b : r; }
__device__ __forceinline__ long long gexp_min(long long a, long long b) { return a < b ? a : b; }
__device__ __forceinline__ long long gexp_max(long long a, long long b) { return a > b ? a : b; }
__device__ __forceinline__ u64 gexp_clock() { u64 now; asm volatile("mov.u64 %0, %%clock64;" : "=l"(now) :: "memory"); return now; }
__device__ __forceinline__ u32 gexp_ticks(u64 begin, u64 end, u32 most) { return end - begin < most ? (u32)(end - begin) : most; }
__device__ __forceinline__ u32 gexp_look(const u32* at) { u32 seen; asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(seen) : "l"(at) : "memory"); return seen; }
// Everybody else's accesses before the signal are seen by whoever sees the signal.
__device__ __forceinline__ void gexp_signal(u32* at) { asm volatile("membar.gl; red.global.add.u32 [%0], 1;" :: "l"(at) : "memory"); }
__device__ __forceinline__ bool gexp_wait(const u32* at, u32 wanted, u64 most) {
  const u64 from = gexp_clock();
  while ((int)(gexp_look(at) - wanted) < 0) {
    if (gexp_clock() - from > most) return false;
  }
  asm volatile("membar.gl;" ::: "memory");
  return true;
}
__device__ __forceinline__ void gexp_together(u32* at, u32 all) {
  gexp_signal(at);
  while (gexp_look(at) < all) {}
  asm volatile("membar.gl;" ::: "memory");
}
${constants}
extern "C" __global__ void ${name}(u64 cell, u32* control, u32* gexp_records, u32* gexp_overhead, u32 gexp_wanted, u32 gexp_all, u64 gexp_patience${parameters}) {
  extern __shared__ u32 gexp_shared[];
  asm volatile(".reg .pred gexp_go; setp.ne.u32 gexp_go, %0, 0;" :: "r"(gexp_all));
  if (threadIdx.x == 0) {
    u32 sm, leader = 0, mine = 0, number = 0;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
${claims}
    if (mine != 0 && atomicAdd(control + 2, 1u) + 1 == gexp_wanted) atomicCAS(control + 3, 0u, 1u);
    __threadfence();
    if (atomicAdd(control + 1, 1u) + 1 == gridDim.x && gexp_look(control + 2) != gexp_wanted) atomicCAS(control + 3, 0u, 2u);
    if (mine != 0) {
      const u64 from = gexp_clock();
      u32 verdict;
      while ((verdict = gexp_look(control + 3)) == 0) {
        if (gexp_clock() - from > gexp_patience) atomicCAS(control + 3, 0u, 3u);
      }
      if (verdict != 1) mine = 0;
    }
    gexp_shared[0] = mine, gexp_shared[1] = number;
  }
  __syncthreads();
  const u32 gexp_role = gexp_shared[0], gexp_number = gexp_shared[1];
  __syncthreads();
  const u64 idle_global = cell + 16;
${roles}
}
