// SPDX-License-Identifier: Apache-2.0
// An index of HTML pages: each thread goes through a page of its own, leaves the tags out, and writes each word and where it begins.
#define TEXT_OF(x) #x
#define LOAD(to, level, from) asm volatile("ld.global." TEXT_OF(level) ".u8 %0, [%1];" : "=r"(to) : "l"(from))

__device__ unsigned mixed(unsigned x) {
  x = (x ^ x >> 15) * 0x85ebca6bu;
  return x ^ x >> 13;
}

/// A word of 2 to 7 letters in every eight characters, and a tag in place of each fifth word.
__global__ void write(unsigned char* pages, unsigned n) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const unsigned drawn = mixed(i / 8 + 1) & 255, word = drawn * drawn * drawn >> 14;
    pages[i] = mixed(i / 8 + 9) % 5 == 0 ? "</span> "[i % 8] : i % 8 < 2 + word % 6 ? 'a' + mixed(word * 8 + i % 8) % 26 : ' ';
  }
}

/// Of each page room for one word in eight characters.
__global__ void invert(const unsigned char* pages, unsigned* words, unsigned* places, unsigned length) {
  const unsigned first = (blockIdx.x * blockDim.x + threadIdx.x) * length;
  unsigned at = first / 8, word = 0, letters = 0, tag = 0;
  for (unsigned i = 0; i < length; ++i) {
    unsigned c;
    LOAD(c, LEVEL, pages + first + i);
    if (c == '<') tag = 1;
    if (!tag && c > ' ') {
      word = word * 31 + c;
      ++letters;
    } else if (letters != 0) {
      words[at] = word;
      places[at++] = first + i - letters;
      word = letters = 0;
    }
    if (c == '>') tag = 0;
  }
}
