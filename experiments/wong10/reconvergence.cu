// SPDX-License-Identifier: Apache-2.0
// reconvergence.cu: who runs first where the threads of a warp part. Each thread records its turn: how many ran their clause before it.
// The branches are written out, because a compiler is free to choose to which side of an `if` it jumps.

#define ALL(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15) \
  X(16) X(17) X(18) X(19) X(20) X(21) X(22) X(23) X(24) X(25) X(26) X(27) X(28) X(29) X(30) X(31)
#define NEXT "add.s32 c, c, %3; "
#define CLAUSE "atom.shared.add.u32 %0, [%1], 1; bra END; "
#define ELSE_IF(k) NEXT "setp.ne.u32 p, %2, c; @p bra NOT" #k "; " CLAUSE "NOT" #k ": "
#define IF(k) NEXT "setp.eq.u32 p, %2, c; @p bra THEN" #k "; "
#define THEN(k) "THEN" #k ": " CLAUSE

__device__ unsigned counter_at(unsigned* counter) {
  if (threadIdx.x == 0) *counter = 0;
  __syncthreads();
  return (unsigned)__cvta_generic_to_shared(counter);
}

// Wong10 Listing 3: clause k is that of thread first + k * step. `jump_to_else`: a branch jumps over its clause, as the paper's compiler
// wrote it; else it jumps to the clause.
extern "C" __global__ void chain(int first, int step, unsigned jump_to_else, unsigned* turns) {
  __shared__ unsigned counter;
  const unsigned at = counter_at(&counter);
  unsigned turn = 0;
  if (jump_to_else) {
    asm volatile("{ .reg .pred p; .reg .s32 c; mov.u32 c, %4; " ALL(ELSE_IF) "END: }" : "+r"(turn) : "r"(at), "r"(threadIdx.x), "r"(step), "r"(first - step) : "memory");
  } else {
    asm volatile("{ .reg .pred p; .reg .s32 c; mov.u32 c, %4; " ALL(IF) "bra END; " ALL(THEN) "END: }" : "+r"(turn) : "r"(at), "r"(threadIdx.x), "r"(step), "r"(first - step) : "memory");
  }
  turns[threadIdx.x] = turn;
}

// The first `jump` threads jump, the others go on.
extern "C" __global__ void two_ways(unsigned jump, unsigned* turns) {
  __shared__ unsigned counter;
  const unsigned at = counter_at(&counter);
  unsigned turn = 0;
  asm volatile("{ .reg .pred p; setp.lt.u32 p, %2, %3; @p bra JUMPED; " CLAUSE "JUMPED: " CLAUSE "END: }" : "+r"(turn) : "r"(at), "r"(threadIdx.x), "r"(jump) : "memory");
  turns[threadIdx.x] = turn;
}
