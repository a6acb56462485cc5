// SPDX-License-Identifier: Apache-2.0
// Hits of each page in the log of a web server: each thread goes through lines of its own. The page is looked up by its hash, and its count
// goes up by an atomic operation.
#define TEXT_OF(x) #x
#define LOAD(to, type, level, from) asm volatile("ld.global." TEXT_OF(level) "." type " %0, [%1];" : "=r"(to) : "l"(from))
#define LINE 32
#define PAGES 1024
#define SLOTS 4096

__device__ unsigned mixed(unsigned x) {
  x = (x ^ x >> 15) * 0x85ebca6bu;
  return x ^ x >> 13;
}

/// Which character of a request for a page; all names have six letters.
__device__ unsigned requested(unsigned page, unsigned i) {
  return i >= 5 && i < 11 ? 'a' + mixed(page * 8 + i) % 26 : "GET /xxxxxx.html HTTP/1.1 200 5\n"[i];
}

/// Some pages are asked for much more often than others.
__global__ void write(unsigned char* log, unsigned n) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const unsigned drawn = mixed(i / LINE + 1) & 255;
    log[i] = requested(drawn * drawn * drawn >> 14, i % LINE);
  }
}

/// A page's hash at its slot; where several have one slot, the largest hash.
__global__ void index(unsigned* pages) {
  for (unsigned page = blockIdx.x * blockDim.x + threadIdx.x; page < PAGES; page += gridDim.x * blockDim.x) {
    unsigned hash = 0;
    for (unsigned i = 4; i < 16; ++i) hash = hash * 31 + requested(page, i);
    atomicMax(pages + hash % SLOTS, hash);
  }
}

__global__ void views(const unsigned char* log, const unsigned* pages, unsigned* counts, unsigned chunk) {
  const unsigned first = (blockIdx.x * blockDim.x + threadIdx.x) * chunk;
  unsigned blanks = 0, hash = 0;
  for (unsigned i = first; i < first + chunk; ++i) {
    unsigned c, page;
    LOAD(c, "u8", LEVEL, log + i);
    if (c == ' ' && ++blanks == 2) {
      LOAD(page, "u32", LEVEL, pages + hash % SLOTS);
      if (page == hash) atomicAdd(counts + hash % SLOTS, 1);
    } else if (blanks == 1 && c > ' ') {
      hash = hash * 31 + c;
    }
    if (c == '\n') blanks = hash = 0;
  }
}
