// SPDX-License-Identifier: Apache-2.0
// One round of k-means: each thread finds the nearest mean of points of its own, which lie one after the other. The means lie in dynamic
// shared memory, of which the launch asks for so much that little is left.
#define TEXT_OF(x) #x
#define LOAD(to, level, from) asm volatile("ld.global." TEXT_OF(level) ".f32 %0, [%1];" : "=f"(to) : "l"(from))

/// Whole numbers, so that distances are exact.
__global__ void write(float* numbers, unsigned n) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    numbers[i] = (float)(((i * 2654435761u) >> 16) % 201) - 100.0f;
}

__global__ void kmeans(const float* points, const float* means, unsigned* nearest, unsigned chunk, unsigned clusters) {
  extern __shared__ float own[];
  for (unsigned i = threadIdx.x; i < 4 * clusters; i += blockDim.x) own[i] = means[i];
  __syncthreads();
  const unsigned first = (blockIdx.x * blockDim.x + threadIdx.x) * chunk;
  for (unsigned p = first; p < first + chunk; ++p) {
    float at[4];
#pragma unroll
    for (unsigned d = 0; d < 4; ++d) LOAD(at[d], LEVEL, points + 4 * p + d);
    unsigned best = 0;
    float least = 1e30f;
    for (unsigned c = 0; c < clusters; ++c) {
      float distance = 0;
#pragma unroll
      for (unsigned d = 0; d < 4; ++d) distance += (at[d] - own[4 * c + d]) * (at[d] - own[4 * c + d]);
      if (distance < least) least = distance, best = c;
    }
    nearest[p] = best;
  }
}
