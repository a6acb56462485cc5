// SPDX-License-Identifier: Apache-2.0
// Kernels that a software cache could break: what they leave in memory is the same with it and without.
#include "tests/sim/soft_l1_application.h"

using namespace sim_test;

namespace {

// `a` and `b` have 16 words for each thread and three more, `c` 64 bytes for each and five more.
constexpr const char* kText = R"(
#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)
#define FOR _Pragma("unroll 1") for
typedef unsigned char u8; typedef unsigned short u16;

__global__ void one_memory_twice(unsigned* a, const unsigned* again, u8* bytes_of_it, unsigned n) {
  FOR (unsigned i = 1; i < 16; ++i) {
    a[THREAD * 16 + i] += again[THREAD * 16 + i - 1] + n;
    bytes_of_it[THREAD * 64 + i * 4 - 3] ^= 0x5a;
  }
}
__global__ void parts_of_words(unsigned* a, unsigned* b, u8* c, unsigned n) {
  struct Record { u8 x, y; u16 z; unsigned w, v; };  // 12 B: lines cut it
  Record* const records = (Record*)c + THREAD * 5;
  FOR (unsigned round = 0; round < n; ++round) {
    FOR (unsigned i = 0; i < 5; ++i) {
      records[i].x += records[i].y;
      records[i].z ^= records[(i + 1) % 5].w;
      if (i & round & 1) records[i].v = records[i].x;
      *(u16*)&records[i].w = a[THREAD * 16 + i] + records[i].v;
    }
  }
}
__global__ void bytes_of_neighbours(unsigned* a, unsigned* b, u8* c, unsigned n) {
  const unsigned threads = gridDim.x * blockDim.x;
  FOR (unsigned i = 0; i < 32; ++i) {
    c[i * threads + THREAD] += i;
    ((u16*)a)[i * threads + THREAD] = c[i * threads + THREAD] * n;
  }
}
__global__ void either_pointer(unsigned* a, unsigned* b, u8* c, unsigned n) {
  FOR (unsigned i = 0; i < 15; ++i) {
    unsigned* const p = (c[THREAD * 64 + i] & 1 ? a : b) + THREAD * 16;
    a[THREAD * 16 + i] += i;
    b[THREAD * 16 + i + 1] = a[THREAD * 16 + i] ^ p[i];
    p[i + 1] += b[THREAD * 16 + i] + n;
  }
}
__global__ void pointer_that_moves_over(unsigned* a, unsigned* b, u8* c, unsigned n) {
  unsigned* p = a + THREAD * 16;
  FOR (unsigned i = 0; i < 16; ++i) {
    *p += i * n;
    c[THREAD * 64 + i] = *p++;
    if (i == (THREAD & 7) + 2) p = b + THREAD * 16;
  }
}
__global__ void pointers_in_memory(unsigned* a, unsigned* b, u8* c, unsigned n) {
  __shared__ unsigned* table[2];
  if (threadIdx.x == 0) table[0] = a, table[1] = b;
  __syncthreads();
  FOR (unsigned i = 0; i < 16; ++i) {
    b[THREAD * 16 + i] += n;
    table[(i + THREAD) & 1][THREAD * 16 + i] *= 3;
    a[THREAD * 16 + i] ^= b[THREAD * 16 + i];
  }
}
__global__ void shared_or_global(unsigned* a, unsigned* b, u8* c, unsigned n) {
  __shared__ unsigned own[1024];
  own[threadIdx.x] = n;
  FOR (unsigned i = 0; i < 16; ++i) {
    unsigned* const p = (THREAD + i) % 3 ? a + THREAD * 16 + i : own + threadIdx.x;
    *p += i;
    b[THREAD * 16 + i] += a[THREAD * 16 + i] + own[threadIdx.x];
  }
}
__global__ void left_early(unsigned* a, unsigned* b, u8* c, unsigned n) {
  unsigned found = 0;
  FOR (unsigned round = 0; round < n; ++round) {
    FOR (unsigned i = 0; i < 16; ++i) {
      FOR (unsigned k = i; k < 16; ++k) {
        a[THREAD * 16 + k] += c[THREAD * 64 + i * k % 64];
        if ((a[THREAD * 16 + k] & 31) == (THREAD & 31)) break;
        if ((a[THREAD * 16 + k] & 63) == 9) goto done;
        if ((a[THREAD * 16 + k] & 127) == 77) return;
      }
      if ((b[THREAD * 16 + i] & 3) == 1) continue;
      b[THREAD * 16 + i] = found += a[THREAD * 16 + i];
    }
  }
done:
  FOR (unsigned i = 0; i < 4; ++i) b[THREAD * 16 + i] ^= a[THREAD * 16 + 15 - i] + found;
}
__global__ void barrier_between(unsigned* a, unsigned* b, u8* c, unsigned n) {
  FOR (unsigned round = 0; round < n; ++round) {
    FOR (unsigned i = 0; i < 16; ++i) a[THREAD * 16 + i] += i * round + c[THREAD * 64 + i];
    __syncthreads();
    const unsigned other = blockIdx.x * blockDim.x + (threadIdx.x + 7) % blockDim.x;
    FOR (unsigned i = 0; i < 16; ++i) b[THREAD * 16 + i] ^= a[other * 16 + i];
    __syncthreads();
  }
}
__global__ void whole_lines(unsigned* a, unsigned* b, u8* c, unsigned n) {
  FOR (unsigned i = 0; i < 4; ++i) {
    uint4 four = ((uint4*)a)[THREAD * 4 + i];
    const uint2 two = ((uint2*)b)[THREAD * 8 + i];
    four.x += two.y, four.w ^= n;
    ((uint4*)a)[THREAD * 4 + i] = four;
    ((uint2*)b)[THREAD * 8 + 4 + i] = make_uint2(four.y, two.x);
    ((ushort4*)c)[THREAD * 8 + i] = make_ushort4(four.x, four.y, two.x, i);
    ((unsigned long long*)c)[THREAD * 8 + i] += 5;
  }
}
__global__ void backwards(unsigned* a, unsigned* b, u8* c, unsigned n) {
  FOR (int i = 63; i > 2; --i) {
    c[THREAD * 64 + i] = c[THREAD * 64 + i - 3] + n;
    if (i % 5 == 0) a[THREAD * 16 + (i * 7 & 15)] += c[THREAD * 64 + (i * 11 & 63)];
  }
}
__device__ __noinline__ void elsewhere(unsigned* p, unsigned v) { FOR (unsigned i = 0; i < 4; ++i) p[i] += v; }
__global__ void calls(unsigned* a, unsigned* b, u8* c, unsigned n) {
  FOR (unsigned i = 0; i < 12; ++i) {
    unsigned sum = 0;
    FOR (unsigned k = 0; k < 16; ++k) sum += a[THREAD * 16 + k] += k;
    elsewhere((i & 1 ? a : b) + THREAD * 16 + i, sum);
  }
}
__global__ void atomic_beside(unsigned* a, unsigned* b, u8* c, unsigned n) {
  FOR (unsigned i = 0; i < 64; ++i) {
    atomicAdd(b + (c[THREAD * 64 + i] & 63), i);
    c[THREAD * 64 + i] += n;
    if (i % 16 == 3) __threadfence();
    if (i % 16 == 5) a[THREAD * 16 + i / 4] = c[THREAD * 64 + i];
  }
}
__global__ void cases(unsigned* a, unsigned* b, u8* c, unsigned n) {
  FOR (unsigned i = 0; i < 16; ++i) {
    unsigned* const p = a + THREAD * 16 + i;
    switch (c[THREAD * 64 + i] & 7) {
      case 0: *p += 1; break;
      case 1: *p ^= n;  // goes on
      case 2: c[THREAD * 64 + i + 1] = *p; break;
      case 3: b[THREAD * 16 + i] = *p; break;
      case 4: i += 2; break;
      case 5: *(u8*)p = 9; break;
      case 6: *p = *p << 3; break;
      default: if (i > 9) return;
    }
  }
  FOR (unsigned i = 0; i < 16; ++i) b[THREAD * 16 + i] += a[THREAD * 16 + i];
}
__global__ void end_of_memory(unsigned* a, unsigned* b, u8* c, unsigned n) {
  const unsigned last = gridDim.x * blockDim.x - 1, from = THREAD == last ? 3 : 0;
  FOR (unsigned i = 0; i < 16 + from; ++i) a[THREAD * 16 + i] ^= b[THREAD * 16 + i] + n;
  FOR (unsigned i = 0; i < 64 + from; ++i) c[THREAD * 64 + i] += i;
}
__global__ void end_of_memory_again(unsigned* a, unsigned* b, u8* c, unsigned n) {
  const unsigned last = gridDim.x * blockDim.x - 1, from = THREAD == last ? 3 : 0;
  FOR (unsigned round = 0; round < n; ++round) {
    FOR (unsigned i = 0; i < 16 + from; ++i) a[THREAD * 16 + i] ^= b[THREAD * 16 + i] + round;
    FOR (unsigned i = 0; i < 64 + from; ++i) c[THREAD * 64 + i] += i;
  }
}
)";

struct Memories {
  std::vector<std::uint32_t> a, b;
  std::vector<std::uint8_t> c;
  friend bool operator==(const Memories&, const Memories&) = default;
};

/// The three memories as a kernel leaves them.
Memories left(Application& app, const std::string& kernel, std::uint32_t line, std::uint32_t monitor, std::vector<std::uint64_t> at) {
  Memories m{std::vector<std::uint32_t>(kThreads * 16 + 3), std::vector<std::uint32_t>(kThreads * 16 + 3),
             std::vector<std::uint8_t>(kThreads * 64 + 5)};
  std::uint32_t x = 1;
  for (auto* words : {&m.a, &m.b}) {
    for (auto& word : *words) word = x = x * 1664525u + 1013904223u;
  }
  for (auto& byte : m.c) byte = static_cast<std::uint8_t>((x = x * 1664525u + 1013904223u) >> 24);
  app.device().write(at[0], m.a), app.device().write(at[1], m.b), app.device().write(at[2], m.c);
  const bool once = kernel == "one_memory_twice";
  app.run(kernel, {{at[0], 8}, {at[once ? 0 : 1], 8}, {at[once ? 0 : 2], 8}, {3, 4}}, line, 0, monitor);
  return {app.device().read<std::uint32_t>(at[0], m.a.size()), app.device().read<std::uint32_t>(at[1], m.b.size()),
          app.device().read<std::uint8_t>(at[2], m.c.size())};
}

}  // namespace

TEST_CASE("needs NVRTC: kernels that a software cache could break are not" * doctest::skip(no_nvrtc())) {
  Application app(kText);
  const std::uint64_t words = (kThreads * 16 + 3) * 4;
  const std::vector<std::uint64_t> at{app.memory(words), app.memory(words), app.memory(kThreads * 64 + 5)};
  for (const std::string kernel : {"one_memory_twice", "parts_of_words", "bytes_of_neighbours", "either_pointer", "pointer_that_moves_over",
                             "pointers_in_memory", "shared_or_global", "left_early", "barrier_between", "whole_lines", "backwards", "calls",
                             "atomic_beside", "cases", "end_of_memory", "end_of_memory_again"}) {
    CAPTURE(kernel);
    const Memories expected = left(app, kernel, 0, 0, at);
    for (const std::uint32_t line : gexp::ptx::kSoftL1Lines) {
      for (const std::uint32_t monitor : {0u, 5u, 17u, 1000u}) {
        CAPTURE(line);
        CAPTURE(monitor);
        const Memories found = left(app, kernel, line, monitor, at);
        CHECK(found.a == expected.a);
        CHECK(found.b == expected.b);
        CHECK(found.c == expected.c);
      }
    }
  }
}
