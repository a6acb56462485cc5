// SPDX-License-Identifier: Apache-2.0
// dram.cu: loads that memory answers. A line is discarded before, so that no cache holds it; one thread asks for it.
__device__ __forceinline__ unsigned load(const char* at) {
  unsigned value;
  asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
  return value;
}
// The branch waits for the value.
__device__ __forceinline__ void wait_for(unsigned value) { asm volatile("{ .reg .pred p; setp.eq.u32 p, %0, 0x12345679; @p trap; }" ::"r"(value) : "memory"); }
__device__ __forceinline__ unsigned ticks() {
  unsigned now;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(now)::"memory");
  return now;
}
__device__ __forceinline__ void discard(char* at) { asm volatile("discard.global.L2 [%0], 128;" ::"l"(at) : "memory"); }
__device__ __forceinline__ unsigned timed(char* at) {
  const unsigned begin = ticks();
  wait_for(load(at));
  return ticks() - begin;
}
__device__ unsigned chance(unsigned x) {
  x ^= x >> 16; x *= 0x7feb352du; x ^= x >> 15; x *= 0x846ca68bu; x ^= x >> 16;
  return x;
}
// The line that has the number i: by chance one of all.
__device__ __forceinline__ char* line(char* memory, unsigned lines, unsigned i) { return memory + chance(i) % lines * 128ull; }

// Waits up to 4095 cycles, by chance: a loop that takes as long as memory takes between two refreshes would meet each of them, or none.
__device__ __forceinline__ void pause(unsigned number) {
  const unsigned begin = ticks(), cycles = chance(number) % 4096;
  while (ticks() - begin < cycles) {}
}

// How much longer two loads take together than the slower one of them alone; of `times` tries the least of each. Where that is long, eight
// times as many: noise makes a load longer, and no load shorter.
__device__ unsigned extra(char* a, char* b, unsigned number, unsigned times) {
  unsigned alone_a = ~0u, alone_b = ~0u, both = ~0u;
  for (unsigned i = 0; i < times || (i < 8 * times && both > max(alone_a, alone_b) + both / 16); ++i) {
    pause(16 * number * times + 2 * i);
    discard(a); discard(b); __threadfence();
    alone_a = min(alone_a, timed(a));
    alone_b = min(alone_b, timed(b));
    pause(16 * number * times + 2 * i + 1);
    discard(a); discard(b); __threadfence();
    const unsigned begin = ticks();
    const unsigned sum = load(a) + load(b);
    wait_for(sum);
    both = min(both, ticks() - begin);
  }
  const unsigned alone = max(alone_a, alone_b);
  return both > alone ? both - alone : 0;
}

// Each of `count` lines beside the line `base`.
extern "C" __global__ void pairs(unsigned* extras, char* memory, unsigned lines, unsigned base, unsigned count, unsigned times) {
  for (unsigned i = 0; i < count; ++i) extras[i] = extra(line(memory, lines, base), line(memory, lines, base + 1 + i), i, times);
}

// The same of those lines alone that the links visit, beside the one of them with the number `first`; `flip` is put on each one's offset.
extern "C" __global__ void some(unsigned* extras, char* memory, unsigned lines, unsigned base, const unsigned* links, unsigned count, unsigned own,
                                unsigned first, unsigned flip, unsigned times) {
  char* a = line(memory, lines, own ? base + 1 + first : base);
  for (unsigned k = 0, at = first; k < count; ++k) {
    if (k > 0 || !own) {
      char* b = line(memory, lines, base + 1 + at);
      extras[k] = extra(a, memory + ((unsigned long long)(b - memory) ^ flip), k, times);
    } else {
      extras[k] = 0;
    }
    at = links[at];
  }
}

// When each of `count` loads of one line began, and how long it took. Pauses by chance: no loop keeps step with the memory.
extern "C" __global__ void again(unsigned* began, unsigned* took, char* memory, unsigned lines, unsigned number, unsigned count) {
  char* at = line(memory, lines, number);
  const unsigned start = ticks();
  for (unsigned i = 0; i < count; ++i) {
    pause(i);
    discard(at); __threadfence();
    began[i] = ticks() - start;
    took[i] = timed(at);
  }
}
