// SPDX-License-Identifier: Apache-2.0
// A document in capitals: each thread goes through a chunk of its own, byte by byte, and writes another document.
#define TEXT_OF(x) #x
#define LOAD(to, level, from) asm volatile("ld.global." TEXT_OF(level) ".u8 %0, [%1];" : "=r"(to) : "l"(from))

/// Letters of both cases, blanks and signs. A character follows from its place alone.
__global__ void write(unsigned char* text, unsigned n) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    text[i] = ' ' + ((i * 2654435761u) >> 16) % 95;
}

__global__ void upper(const unsigned char* text, unsigned char* capitals, unsigned chunk) {
  const unsigned long long first = (unsigned long long)(blockIdx.x * blockDim.x + threadIdx.x) * chunk;
  for (unsigned i = 0; i < chunk; ++i) {
    unsigned c;
    LOAD(c, LEVEL, text + first + i);
    capitals[first + i] = c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c;
  }
}
