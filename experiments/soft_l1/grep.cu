// SPDX-License-Identifier: Apache-2.0
// Lines in which a pattern occurs: each thread tries it at each character of a chunk of its own. A dot of the pattern stands for any
// character, a star for any number of the character before it. The pattern lies in shared memory.
#define TEXT_OF(x) #x
#define LOAD(to, level, from) asm volatile("ld.global." TEXT_OF(level) ".u8 %0, [%1];" : "=r"(to) : "l"(from))
#define PATTERN "e.a*b"

__device__ unsigned mixed(unsigned x) {
  x = (x ^ x >> 15) * 0x85ebca6bu;
  return x ^ x >> 13;
}

/// Lines of 31 letters, of which the first five are the frequent ones.
__global__ void write(unsigned char* text, unsigned n) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    text[i] = i % 32 == 31 ? '\n' : "abcdeabcdefghijklmnopqrstuvwxyz "[mixed(i + 1) & 31];
}

/// How many lines match, and where the first one does, counted from 1.
__global__ void grep(const unsigned char* text, unsigned* lines, unsigned* places, unsigned chunk) {
  __shared__ unsigned char pattern[sizeof PATTERN];
  if (threadIdx.x < sizeof PATTERN) pattern[threadIdx.x] = PATTERN[threadIdx.x];
  __syncthreads();
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, first = thread * chunk, end = first + chunk;
  unsigned found = 0, place = 0, matched = 0;
  for (unsigned start = first; start < end; ++start) {
    unsigned c;
    LOAD(c, LEVEL, text + start);
    if (c == '\n') {
      matched = 0;
      continue;
    }
    if (matched) continue;
    unsigned p = 0, at = start, star = 0, tried = 0;  // behind the star, 0 for none; the first character that it may still take
    while (pattern[p] != 0) {
      if (pattern[p + 1] == '*') {
        p = star = p + 2;
        tried = at;
        continue;
      }
      LOAD(c, LEVEL, text + at);
      if (c != '\n' && (pattern[p] == '.' || pattern[p] == c)) {
        ++p, ++at;
        continue;
      }
      if (star == 0) break;
      LOAD(c, LEVEL, text + tried);
      if (c == '\n' || (pattern[star - 2] != '.' && pattern[star - 2] != c)) break;
      at = ++tried;
      p = star;
    }
    if (pattern[p] == 0) {
      matched = 1;
      if (found++ == 0) place = start + 1;
    }
  }
  lines[thread] = found;
  places[thread] = place;
}
