// SPDX-License-Identifier: Apache-2.0
// A product of two matrices without shared memory: each thread adds up elements of its own, a row apart from the next
// thread's.
#define TEXT_OF(x) #x
#define LOAD(to, level, from) asm volatile("ld.global." TEXT_OF(level) ".f32 %0, [%1];" : "=f"(to) : "l"(from))

/// Small whole numbers, so that sums of products are exact in any order.
__global__ void write(float* matrix, unsigned n) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    matrix[i] = (float)(((i * 2654435761u) >> 16) % 9) - 4.0f;
}

__global__ void multiply(const float* a, const float* b, float* c, unsigned rows, unsigned inner, unsigned columns) {
  for (unsigned at = blockIdx.x * blockDim.x + threadIdx.x; at < rows * columns; at += gridDim.x * blockDim.x) {
    const unsigned row = at % rows, column = at / rows;
    float sum = 0;
    for (unsigned k = 0; k < inner; ++k) {
      float left, right;
      LOAD(left, LEVEL, a + row * inner + k);
      LOAD(right, LEVEL, b + k * columns + column);
      sum += left * right;
    }
    c[row * columns + column] = sum;
  }
}
