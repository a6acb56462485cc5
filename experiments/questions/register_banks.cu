// SPDX-License-Identifier: Apache-2.0
// register_banks.cu: one warp adds up products of registers. Which three an instruction reads, two distances say. Whether neighbouring
// variables lie in neighbouring registers, the compiler decides: a disassembler shows it in what `gexp emit --cubin` writes.
constexpr int kVariables = 16;

template <int X, int Y> __global__ void fmas(const float* in, unsigned rounds, unsigned* cycles) {
  float a[kVariables], b[kVariables];
#pragma unroll
  for (int i = 0; i < kVariables; ++i) a[i] = in[i], b[i] = in[kVariables + i];
  unsigned begin = 0;
#pragma unroll 1
  for (int pass = 0; pass < 2; ++pass) {  // the first one waits for what was loaded
    begin = clock();
    const unsigned last = pass == 0 ? 1 : rounds;
#pragma unroll 1
    for (unsigned r = 0; r < last; ++r) {
#pragma unroll
      for (int k = 0; k < 4; ++k) {
#pragma unroll
        for (int i = 0; i < kVariables; ++i) a[i] = __fmaf_rn(b[(i + X) % kVariables], b[(i + Y) % kVariables], a[i]);
      }
    }
  }
  const unsigned end = clock();
  float all = 0;
#pragma unroll
  for (int i = 0; i < kVariables; ++i) all += a[i];
  cycles[threadIdx.x] = end - begin + (all == 1.5f ? 1 : 0);  // never: `in` holds zeros
}
