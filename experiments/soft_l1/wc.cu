// SPDX-License-Identifier: Apache-2.0
// A word count: each thread goes through a chunk of its own, byte by byte.
#define TEXT_OF(x) #x
#define LOAD(to, level, from) asm volatile("ld.global." TEXT_OF(level) ".u8 %0, [%1];" : "=r"(to) : "l"(from))

/// Words of 1 to 8 letters, some ten to a line. A character follows from its place alone.
__global__ void write(unsigned char* text, unsigned n) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const unsigned mixed = (i * 2654435761u) >> 16;
    text[i] = mixed % 60 == 0 ? '\n' : mixed % 6 == 0 ? ' ' : 'a' + mixed % 26;
  }
}

__global__ void wc(const unsigned char* text, unsigned chunk, unsigned* words, unsigned* lines) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned char* const own = text + (unsigned long long)thread * chunk;
  unsigned count = 0, ends = 0, before = ' ';
  for (unsigned i = 0; i < chunk; ++i) {
    unsigned c;
    LOAD(c, LEVEL, own + i);
    count += c > ' ' && before <= ' ';
    ends += c == '\n';
    before = c;
  }
  words[thread] = count;
  lines[thread] = ends;
}
