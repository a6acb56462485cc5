// SPDX-License-Identifier: Apache-2.0
// A word count over a document in the host's memory, which comes piece by piece into buffers of each block: while some warps fetch the
// next piece, the others count in the one before. What the device holds of it is the buffers alone.

/// Words of 1 to 8 letters, some ten to a line. A character follows from its place alone.
__global__ void write(unsigned char* text, unsigned n) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const unsigned mixed = (i * 2654435761u) >> 16;
    text[i] = mixed % 60 == 0 ? '\n' : mixed % 6 == 0 ? ' ' : 'a' + mixed % 26;
  }
}

/// A piece of a block, 16 bytes a load, by some of its threads.
__device__ void fetch(const unsigned char* text, unsigned char* buffer, unsigned piece, unsigned bytes, unsigned thread, unsigned fetchers) {
  const uint4* const from = (const uint4*)(text + ((unsigned long long)piece * gridDim.x + blockIdx.x) * bytes);
  for (unsigned i = thread; i < bytes / 16; i += fetchers) ((uint4*)buffer)[i] = from[i];
}

/// All pieces, and nobody counts.
__global__ void only_fetch(const unsigned char* text, unsigned char* buffers, unsigned bytes, unsigned pieces) {
  for (unsigned piece = 0; piece < pieces; ++piece)
    fetch(text, buffers + (2ull * blockIdx.x + piece % 2) * bytes, piece, bytes, threadIdx.x, blockDim.x);
}

/// Each thread that counts has `chunk` bytes of a piece. With one buffer it waits for each piece, with two for the first one. Both counts
/// of a thread are one number.
__global__ void wc(const unsigned char* text, unsigned char* all_buffers, unsigned chunk, unsigned pieces, unsigned fetchers, unsigned buffers,
                   unsigned* counts) {
  const unsigned counting = blockDim.x - fetchers, bytes = counting * chunk, ahead = buffers - 1;
  const bool fetches = threadIdx.x >= counting;
  unsigned char* const own = all_buffers + (unsigned long long)blockIdx.x * buffers * bytes;
  if (fetches && ahead > 0) fetch(text, own, 0, bytes, threadIdx.x - counting, fetchers);
  __syncthreads();
  unsigned words = 0, lines = 0;
  for (unsigned piece = 0; piece < pieces; ++piece) {
    const unsigned next = piece + ahead;
    if (fetches && next < pieces) fetch(text, own + next % buffers * bytes, next, bytes, threadIdx.x - counting, fetchers);
    if (ahead == 0) __syncthreads();
    if (!fetches) {
      const unsigned char* const from = own + piece % buffers * bytes + threadIdx.x * chunk;
      unsigned before = ' ';
#pragma unroll 1
      for (unsigned i = 0; i < chunk; ++i) {
        unsigned c;
        asm volatile("ld.global.cg.u8 %0, [%1];" : "=r"(c) : "l"(from + i));
        words += c > ' ' && before <= ' ';
        lines += c == '\n';
        before = c;
      }
    }
    __syncthreads();
  }
  counts[blockIdx.x * blockDim.x + threadIdx.x] = words << 16 | lines;
}
