// SPDX-License-Identifier: Apache-2.0
// Kernels that a software cache could break: what they leave in memory is the same with it and without.
#include "tests/sim/soft_l1_application.h"

using namespace sim_test;

namespace {

// `a` and `b` have 16 words for each thread and three more, `c` 64 bytes for each and five more.
constexpr const char* kKernels = R"(
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

// Kernels whose pointers, loops and accesses are of every kind that a compiler makes.
constexpr const char* kHostileText = R"(
#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)
#define FOR _Pragma("unroll 1") for
typedef unsigned char u8; typedef unsigned short u16; typedef unsigned long long u64;
struct Holder { unsigned* p; };

__global__ void pointer_in_a_parameter(Holder h, unsigned* b, u8* c, unsigned n) {
  FOR (unsigned i = 0; i < 16; ++i) h.p[THREAD * 16 + i] += c[THREAD * 64 + i * 3] ^ (b[THREAD * 16 + i] -= n);
}
__global__ void pointers_of_its_own(unsigned* a, unsigned* b, u8* c, unsigned n) {
  struct Two { unsigned *from, *to; } two[3] = {{a, b}, {b, a}, {a, (unsigned*)c}};
  FOR (unsigned i = 0; i < 15; ++i) {
    Two& t = two[(c[THREAD * 64 + i] + i) % 3];
    t.to[THREAD * 16 + i] += t.from[THREAD * 16 + i + 1] + n;
    a[THREAD * 16 + i] ^= i;
    if (i == 7) { unsigned* const p = t.from; t.from = t.to, t.to = p; }
  }
}
__global__ void pointer_in_the_memory(unsigned* a, unsigned* b, u8* c, unsigned n) {
  *(unsigned**)(c + THREAD * 64) = a + THREAD * 16;
  FOR (unsigned i = 0; i < 16; ++i) {
    a[THREAD * 16 + i] += n;
    unsigned* const p = *(unsigned**)(c + THREAD * 64);
    p[i] = p[15 - i] * 3 + a[THREAD * 16 + i];
    b[THREAD * 16 + i] = a[THREAD * 16 + 15 - i];
    *(unsigned**)(c + THREAD * 64) = i & 1 ? a + THREAD * 16 : b + THREAD * 16;
  }
  *(u64*)(c + THREAD * 64) = 0;  // addresses are no result
}
__global__ void some_volatile(unsigned* a, unsigned* b, u8* c, unsigned n) {
  FOR (unsigned i = 0; i < 16; ++i) {
    a[THREAD * 16 + i] += n;
    if (i & 1) *(volatile unsigned*)(b + THREAD * 16 + i) = a[THREAD * 16 + i];
    else b[THREAD * 16 + i] += *(volatile unsigned*)(b + THREAD * 16 + (i ^ 1));
    c[THREAD * 64 + i] = b[THREAD * 16 + i];
  }
}
__global__ void as_many_rounds_as_it_says(unsigned* a, unsigned* b, u8* c, unsigned n) {
  FOR (unsigned round = 0; round < (THREAD * 7 & 3); ++round) {
    unsigned at = c[THREAD * 64 + round] & 15;
    while (a[THREAD * 16 + at] % 5 != 0) {
      a[THREAD * 16 + at] = a[THREAD * 16 + at] / 3 + round;
      if (a[THREAD * 16 + at] % 11 == 3) at = (at + 5) & 15;
      if (a[THREAD * 16 + at] < 4) { b[THREAD * 16 + at] += n; break; }
      if (at == 13 && (c[THREAD * 64 + at] & 1)) return;
    }
    do {
      c[THREAD * 64 + at] += round;
      if (c[THREAD * 64 + at] & 4) continue;
      b[THREAD * 16 + (at & 15)] ^= a[THREAD * 16 + round];
    } while (++at < 16);
  }
}
__global__ void into_the_middle(unsigned* a, unsigned* b, u8* c, unsigned n) {
  unsigned i = 0;
  if (c[THREAD * 64] & 1) goto middle;
  do {
    a[THREAD * 16 + i] += b[THREAD * 16 + i];
middle:
    b[THREAD * 16 + i] ^= a[THREAD * 16 + i] + n;
    c[THREAD * 64 + i] = a[THREAD * 16 + i];
  } while (++i < 16);
  FOR (unsigned k = 0; k < 16; ++k) {  // the loop above has two ways in, so this one alone is cut
    if (k & n) a[THREAD * 16 + k] -= b[THREAD * 16 + k];
    else c[THREAD * 64 + k] += b[THREAD * 16 + k];
  }
}
__global__ void far_indices(unsigned* a, unsigned* b, u8* c, unsigned n) {
  const long long far = (long long)n << 33;
  unsigned* const beyond = a - far;
  FOR (long long i = 15; i >= 0; i -= 1 + (i & 1)) {
    beyond[far + THREAD * 16 + i] += (unsigned)i;
    b[(u64)(THREAD + (1ull << 40)) * 16 + i - (1ull << 44)] ^= a[THREAD * 16 + i];
    (c + THREAD * 64 + 63)[-(long long)i * 4] += a[THREAD * 16 + (i ^ 1)];
  }
}
__global__ void from_one_to_the_other(unsigned* a, unsigned* b, u8* c, unsigned n) {
  const long long between = (char*)b - (char*)a;
  FOR (unsigned i = 0; i < 16; ++i) {
    unsigned* const p = (unsigned*)((char*)(a + THREAD * 16 + i) + ((i & 2) ? between : 0));
    *p += n + i;
    b[THREAD * 16 + i] += a[THREAD * 16 + i];
    *(unsigned*)((u64)(a + THREAD * 16) | (i * 4 & 12)) ^= b[THREAD * 16 + i];
    *(unsigned*)(((u64)(b + THREAD * 16 + i) & ~15ull) + 4) += 3;
  }
}
__global__ void cut_members(unsigned* a, unsigned* b, u8* c, unsigned n) {
  struct __attribute__((packed)) Packed { u8 kind; unsigned value; u16 more; };  // 7 B
  struct Three { float x, y, z; };
  Packed* const packed = (Packed*)c + THREAD * 9;
  Three* const three = (Three*)a + THREAD * 5;
  FOR (unsigned i = 0; i < 9; ++i) {
    packed[i].value += packed[(i + 4) % 9].more * n;
    packed[i].kind ^= (u8)packed[i].value;
    three[i % 5].y = (float)(packed[i].value >> 8);
    three[i % 5].z = three[(i + 1) % 5].y;
    b[THREAD * 16 + i] = __float_as_uint(three[i % 5].z);
  }
}
__global__ void every_width(unsigned* a, unsigned* b, u8* c, unsigned n) {
  FOR (unsigned i = 0; i < 4; ++i) {
    uint4* const quads = (uint4*)a + THREAD * 4;
    uint4 q = quads[i];
    ((uchar4*)&q)->y += n;
    quads[(i + 1) & 3] = q;
    ((u64*)b)[THREAD * 8 + i] = ((u64*)(quads + i))[1] + n;
    ((double*)b)[THREAD * 8 + 4 + i] = (double)(int)q.x;
    ((short*)c)[THREAD * 32 + i] = ((signed char*)b)[THREAD * 64 + i * 9];
    ((uchar4*)c)[THREAD * 16 + 8 + i] = make_uchar4(q.x, q.y, q.z, q.w);
    ((u16*)a)[THREAD * 32 + i * 8 + 3] = c[THREAD * 64 + i];
    quads[i].w = ((u16*)a)[THREAD * 32 + i * 8 + 3];
  }
}
__global__ void as_it_is_written(unsigned* a, unsigned* b, u8* c, unsigned n) {
  FOR (unsigned i = 0; i < 16; ++i) {
    unsigned x, y;
    const unsigned *from = a + THREAD * 16 + i, *to = b + THREAD * 16 + (i & ~1u);
    asm volatile("ld.weak.global.u32 %0, [%1];" : "=r"(x) : "l"(from) : "memory");
    asm volatile("{ .reg .pred p; setp.gt.u32 p, %1, 7; @p ld.u32 %0, [%2+4]; @!p mov.u32 %0, %1; }" : "=r"(y) : "r"(i), "l"(to) : "memory");
    asm volatile("st.global.v2.u32 [%0], {%1, %2};" :: "l"(to), "r"(x + n), "r"(y) : "memory");
    asm volatile("prefetch.global.L2 [%0]; st.global.cs.u8 [%1+1], %2;" :: "l"(from), "l"(c + THREAD * 64 + i), "r"(x) : "memory");
    asm volatile("{ .reg .pred p; .reg .u64 t; setp.lt.u32 p, %0, 5; selp.u64 t, %1, %2, p; st.u32 [t], %0; }" :: "r"(i), "l"(from), "l"(to) : "memory");
  }
}
__device__ __noinline__ unsigned* shifted(unsigned* p, unsigned by) { return p + by; }
__global__ void called_before_and_within(unsigned* a, unsigned* b, u8* c, unsigned n) {
  unsigned* p = shifted(a, THREAD * 16);
  FOR (unsigned i = 0; i < 6; ++i) {
    FOR (unsigned k = 0; k < 16; ++k) p[k] += a[THREAD * 16 + (k ^ 3)] + b[THREAD * 16 + k];
    p = shifted(i & 1 ? a : b, THREAD * 16);
    FOR (unsigned k = 0; k < 16; ++k) c[THREAD * 64 + k] += p[k];
  }
}
__global__ void handed_over(unsigned* a, unsigned* b, u8* c, unsigned n) {
  const unsigned other = THREAD % 64;  // of the first block, which hands over to the second one, round by round
  FOR (unsigned i = 0; i < 8; ++i) {
    if (blockIdx.x == 0) {
      FOR (unsigned k = 0; k < 16; ++k) a[other * 16 + k] += k * i + n;
      __threadfence();
      atomicExch(b + other, i);
      while (atomicAdd(b + 64 + other, 0) != i) {}
    } else {
      while (atomicAdd(b + other, 0) != i) {}
      __threadfence();
      FOR (unsigned k = 0; k < 16; ++k) c[THREAD * 64 + k] += a[other * 16 + k] >> i;
      __threadfence();
      atomicExch(b + 64 + other, i);
    }
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

/// What each kernel leaves is the same with lines of every size, whenever they begin.
void check_kernels(const char* text, std::initializer_list<std::string> kernels) {
  Application app(text);
  const std::uint64_t words = (kThreads * 16 + 3) * 4;
  const std::vector<std::uint64_t> at{app.memory(words), app.memory(words), app.memory(kThreads * 64 + 5)};
  for (const std::string& kernel : kernels) {
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

}  // namespace

TEST_CASE("needs NVRTC: kernels that a software cache could break are not" * doctest::skip(no_nvrtc())) {
  check_kernels(kKernels, {"one_memory_twice", "parts_of_words", "bytes_of_neighbours", "either_pointer", "pointer_that_moves_over",
                        "pointers_in_memory", "shared_or_global", "left_early", "barrier_between", "whole_lines", "backwards", "calls",
                        "atomic_beside", "cases", "end_of_memory", "end_of_memory_again"});
}

TEST_CASE("needs NVRTC: pointers, loops and accesses of every kind stay what they are" * doctest::skip(no_nvrtc())) {
  check_kernels(kHostileText, {"pointer_in_a_parameter", "pointers_of_its_own", "pointer_in_the_memory", "some_volatile",
                               "as_many_rounds_as_it_says", "into_the_middle", "far_indices", "from_one_to_the_other", "cut_members",
                               "every_width", "as_it_is_written", "called_before_and_within", "handed_over"});
}
