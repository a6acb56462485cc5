// SPDX-License-Identifier: Apache-2.0
#include <cuda_fp16.h>
  #  /* from */ inc\
lude "/etc/passwd"
// #include is no directive here
#if __has_include("/etc/shadow")
#endif
%:import "x"
extern "C" __global__ void copy(const unsigned* from, unsigned* to, unsigned n) {
  for (unsigned i = threadIdx.x; i < n; i += blockDim.x) to[i] = from[i];
}
