// SPDX-License-Identifier: Apache-2.0
// body.cu: any operations by any number of threads; a warp's time over the timed region, or each access's, or the whole launch's.
// holes: name        the kernel's name
//        bounds      of how many threads a block is, where several loads are in flight; else nothing
//        constants   arrays in constant memory
//        parameters  further parameters: memories, texture handles, tables, values of the point
//        placing     of a kernel that chooses its multiprocessors (compiler/emit.h): last parameters, or nothing
//        leave       by which blocks on others leave
//        cta         the block: blockIdx.x, or 0 of such a kernel, which is one of many that are told to leave
//        setup       bases of the memories, also of those in other blocks of the cluster, links of shared and local ones
//        first_pass  0: the timed region is rehearsed; 1: it is not
//        passes      all passes: 2, or more where the timed region calibrates itself
//        alone       by which all but one warp leave the calibrating passes out; nothing where the region has a barrier
//        warm        operations before timing
//        addresses   where the timed accesses begin
//        timed       operations that are timed
//        settle      waits for what was loaded; nothing in an empty region
//        record      what is kept of them
//        calibrate   what a timed region costs besides what it times, into overhead, by one thread, after the last warp's or window's
//                    word: 16 times of a chain of 4 loads of an idle cell and 16 of one of 20 (zeros where there is no chain), 32 of the region
// work:  the operations of the warm-up once, those of the timed region once (loops as often as they say), besides a rehearsal.
//
// The rehearsal runs the timed region's own instructions, so that they are in the instruction cache, on an idle cell: 16 bytes of
// the same memory space that nothing else uses; loops turn twice. Values that were loaded are consumed at the end of their loop's
// round and of the region. Nothing else would keep the clock from being read before they arrive: the read depends on nothing, and
// compilers move it over arithmetic. So a conditional trap on the values stands before it, which is never taken and which nothing
// is moved over. A thread's values of its own are computed before the clock is read.
//
// Where each access is timed, further passes of one warp time the first access on the idle cell, whose latency a chain tells. They are
// the region's own instructions because no copy is sure to be: on an H200 a copy had its address in other registers, and took 8 cycles less.
typedef unsigned int u32;
typedef unsigned long long u64;
__device__ __forceinline__ long long gexp_div(long long a, long long b) { const long long q = a / b; return q * b > a ? q - 1 : q; }
__device__ __forceinline__ long long gexp_mod(long long a, long long b) { const long long r = a % b; return r < 0 ? r + b : r; }
__device__ __forceinline__ long long gexp_min(long long a, long long b) { return a < b ? a : b; }
__device__ __forceinline__ long long gexp_max(long long a, long long b) { return a > b ? a : b; }
// All 64 bits: of a read of 32 the compiler makes either of two instructions, one of which is 8 cycles slower on an H200.
__device__ __forceinline__ u64 gexp_clock() { u64 now; asm volatile("mov.u64 %0, %%clock64;" : "=l"(now) :: "memory"); return now; }
__device__ __forceinline__ u32 gexp_ticks(u64 begin, u64 end, u32 most) { return end - begin < most ? (u32)(end - begin) : most; }
${constants}
extern "C" __global__ void ${bounds}${name}(u64 cell, u32* records, u32* overhead, u32 skip, u32 window, u32 trace_at${parameters}${placing}) {
  extern __shared__ u32 dynamic[];
${leave}  const u64 shared = (u64)__cvta_generic_to_shared(dynamic);
  const long long tid = threadIdx.x, cta = ${cta}, gtid = cta * blockDim.x + threadIdx.x;
  const long long lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const u64 idle_global = cell + 16;
  u64 sum = cell;  // what was loaded goes into it; never the number below, which no compiler can know
  asm volatile(".reg .pred gexp_go; setp.ne.u32 gexp_go, %0, 0;" :: "r"(window));  // true: what hangs on it is not merged
  const u64 zero = window >> 31;  // a window is shorter; no compiler knows
  u64 begin = 0, end = 0, t0 = 0, t1 = 0;
  u32 taken = 0, taken_at = 0, calibrated = 0;
${setup}
  __syncthreads();
  #pragma unroll 1
  for (u32 pass = ${first_pass}; pass < ${passes}; ++pass) {
    if (pass == 1) {
${warm}
    }
${addresses}
    __syncthreads();
    ${alone}
    begin = gexp_clock();
${timed}
    ${settle}
    end = gexp_clock();
  }
${record}
  __syncthreads();
  if (gtid == 0) {
${calibrate}
  }
  if (sum == 0x9e3779b97f4a7c16ull) records[0] = (u32)((sum + t0 + t1 + begin + end) >> 9) + taken + taken_at + calibrated + skip + window + trace_at;
}
