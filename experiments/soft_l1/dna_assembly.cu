// SPDX-License-Identifier: Apache-2.0
// A step of a DNA assembly: fragments of a genome are read letter by letter, and where the last letters read are the first ones of another
// fragment, the two belong together. Each thread goes through fragments of its own.
#define TEXT_OF(x) #x
#define LOAD(to, type, level, from) asm volatile("ld.global." TEXT_OF(level) "." type " %0, [%1];" : "=r"(to) : "l"(from))
#define WORD 16  // letters that two fragments must share; two bits each

__device__ unsigned mixed(unsigned x) {
  x = (x ^ x >> 15) * 0x85ebca6bu;
  return x ^ x >> 13;
}

__device__ unsigned bits_of(unsigned letter) { return letter >> 1 & 3; }
__device__ unsigned slot_of(unsigned word, unsigned bits) { return word * 2654435761u >> (32 - bits); }

/// Fragments begin at every eighth letter of the genome, and lie in no order.
__global__ void write(unsigned char* fragments, unsigned n, unsigned length) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const unsigned piece = (unsigned)(i / length * 7919ull % (n / length));
    fragments[i] = "ACGT"[mixed(piece * 8 + i % length + 1) & 3];
  }
}

/// Which fragment begins with a word: its number and one, 0 for none. Of several the last one.
__global__ void index(const unsigned char* fragments, unsigned* starts, unsigned n, unsigned length, unsigned bits) {
  for (unsigned f = blockIdx.x * blockDim.x + threadIdx.x; f < n; f += gridDim.x * blockDim.x) {
    unsigned word = 0;
    for (unsigned i = 0; i < WORD; ++i) word = word << 2 | bits_of(fragments[f * length + i]);
    atomicMax(starts + slot_of(word, bits), f + 1);
  }
}

__global__ void assemble(const unsigned char* fragments, const unsigned* starts, unsigned* next, unsigned length, unsigned chunk,
                         unsigned bits) {
  const unsigned first = (blockIdx.x * blockDim.x + threadIdx.x) * chunk;
  for (unsigned f = first; f < first + chunk; ++f) {
    unsigned word = 0, follows = 0;
    for (unsigned i = 0; i < length && follows == 0; ++i) {
      unsigned letter, other;
      LOAD(letter, "u8", LEVEL, fragments + f * length + i);
      word = word << 2 | bits_of(letter);
      if (i < WORD) continue;
      LOAD(other, "u32", LEVEL, starts + slot_of(word, bits));
      if (other == 0) continue;
      unsigned same = 0;
      for (; same < WORD; ++same) {
        LOAD(letter, "u8", LEVEL, fragments + (other - 1) * length + same);
        if (bits_of(letter) != (word >> (2 * (WORD - 1 - same)) & 3)) break;
      }
      if (same == WORD) follows = other;
    }
    next[f] = follows;
  }
}
