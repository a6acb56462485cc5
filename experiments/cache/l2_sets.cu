// SPDX-License-Identifier: Apache-2.0
// l2_sets.cu: lines of one set of a cache behind the L1, found by what puts a given line out, on multiprocessor 0 alone.
// `found` holds 128 words for each target: how many lines were found, the target, candidates asked, the fewest that put it out, the lines.
// LINE: bytes of a line.
__device__ __forceinline__ unsigned load_from(const char* at) {
  unsigned value;
  asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
  return value;
}
__device__ __forceinline__ unsigned load(const char* memory, unsigned line) { return load_from(memory + (unsigned long long)line * LINE); }
// The branch waits for the value.
__device__ __forceinline__ void wait_for(unsigned value) { asm volatile("{ .reg .pred p; setp.eq.u32 p, %0, 0x12345679; @p trap; }" ::"r"(value) : "memory"); }
__device__ __forceinline__ unsigned ticks() {
  unsigned now;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(now)::"memory");
  return now;
}
__device__ __forceinline__ unsigned timed(const char* memory, unsigned line) {
  const char* at = memory + (unsigned long long)line * LINE;
  asm volatile("" : "+l"(at)::"memory");  // the address is there before the clock is read
  const unsigned begin = ticks();
  wait_for(load_from(at));
  return ticks() - begin;
}
__device__ unsigned chance(unsigned x) {
  x ^= x >> 16; x *= 0x7feb352du; x ^= x >> 15; x *= 0x846ca68bu; x ^= x >> 16;
  return x;
}

// A list of units of `unit` neighbouring lines each. It is in shared memory: what lay in the cache would put lines out, too.
constexpr unsigned kRoom = 8192;
__shared__ unsigned list[kRoom];

// Whether the list without its units [from, to) puts the target out, each of three times. A short list is loaded `turns` times: a line that
// is put out at random is so sooner or later.
__device__ bool puts_out(const char* memory, unsigned target, unsigned count, unsigned unit, unsigned from, unsigned to, unsigned turns,
                         unsigned limit) {
  const unsigned passes = max(1u, min(turns, (1u << 16) / (count * unit)));
  for (unsigned again = 0; again < 3; ++again) {
    if (threadIdx.x == 0) wait_for(load(memory, target));
    __syncthreads();
    unsigned sum = 0;
    for (unsigned pass = 0; pass < passes; ++pass) {
      for (unsigned i = threadIdx.x; i < count * unit; i += blockDim.x) {
        const unsigned at = i / unit, line = list[at] * unit + i % unit;
        if ((at < from || at >= to) && line != target) sum += load(memory, line);
      }
      wait_for(sum);
      __syncthreads();
    }
    if (!__syncthreads_or(threadIdx.x == 0 && timed(memory, target) > limit)) return false;
  }
  return true;
}

// Leaves out one part of the list after the other that is not needed, then smaller parts; how many units remain. More than `most`: what puts
// the target out are not some lines. What is left in the end is tried again and again.
__device__ unsigned reduced(const char* memory, unsigned target, unsigned count, unsigned unit, unsigned most, unsigned turns, unsigned limit) {
  unsigned part = (count + 23) / 24;  // not 0, as the list is not empty
  for (unsigned in_vain = 0;;) {
    const unsigned before = count;
    for (unsigned from = 0; from < count;) {
      const unsigned to = min(from + part, count), rest = count - to;
      if (!puts_out(memory, target, count, unit, from, to, turns, limit)) { from = to; continue; }
      for (unsigned base = 0; base < rest; base += blockDim.x) {  // those behind it move up, a block of them at a time
        const unsigned i = base + threadIdx.x, moved = i < rest ? list[to + i] : 0;
        __syncthreads();
        if (i < rest) list[from + i] = moved;
        __syncthreads();
      }
      count -= to - from;
    }
    in_vain = count == before ? in_vain + 1 : 0;
    if (count == 0 || (in_vain > 0 && count > 16 * most) || (in_vain > (count > 64 ? 0 : 16) && part == 1)) return count;
    part = count == before ? (part + 1) / 2 : max(1u, (count + 23) / 24);
  }
}

// What the target takes where it is held, or after all units of the list.
__device__ unsigned takes(const char* memory, unsigned target, unsigned count, unsigned unit) {
  if (threadIdx.x == 0) wait_for(load(memory, target));
  __syncthreads();
  for (unsigned i = threadIdx.x; i < count * unit; i += blockDim.x) {
    const unsigned line = list[i / unit] * unit + i % unit;
    if (line != target) wait_for(load(memory, line));
  }
  __syncthreads();
  __shared__ unsigned cycles;
  if (threadIdx.x == 0) cycles = timed(memory, target);
  __syncthreads();
  return cycles;
}

// The fewest lines that put the target out, left in the list, or 0.
__device__ unsigned fewest_lines(const char* memory, unsigned target, unsigned lines, unsigned most, unsigned turns, unsigned& limit) {
  const unsigned unit = (lines + kRoom - 1) / kRoom, all = lines / unit;
  for (unsigned i = threadIdx.x; i < all; i += blockDim.x) list[i] = i;
  __syncthreads();
  if (!puts_out(memory, target, all, unit, 0, 0, turns, limit)) return 0;
  const unsigned held = takes(memory, target, 0, 1), out = takes(memory, target, all, unit);
  if (out <= limit) return 0;
  limit = (held + out) / 2;
  const unsigned units = reduced(memory, target, all, unit, most, turns, limit);
  if (units == 0 || units > most || units * unit > kRoom) return 0;
  const unsigned own = threadIdx.x < units ? list[threadIdx.x] : 0;
  __syncthreads();
  for (unsigned i = 0; threadIdx.x < units && i < unit; ++i) list[threadIdx.x * unit + i] = own * unit + i;
  __syncthreads();
  const unsigned count = reduced(memory, target, units * unit, 1, most, turns, limit);
  return count > most ? 0 : count;
}

// Adds lines that put the target out in place of one of those that do, each of three times; how many there are then. One warp does this.
__device__ unsigned extended(const char* memory, unsigned target, unsigned* lines, unsigned fewest, unsigned most, unsigned all, unsigned limit,
                             unsigned* asked) {
  unsigned count = fewest;
  const unsigned first = chance(target), mine = threadIdx.x + 1 < fewest ? lines[threadIdx.x + 1] : target;
  for (; *asked < all && count < most; ++*asked) {
    const unsigned candidate = (first + *asked * 977u) % all;
    bool other = candidate != target;
    for (unsigned i = 0; i < count; ++i) other = other && lines[i] != candidate;
    for (unsigned again = 0; other && again < 3; ++again) {
      if (threadIdx.x == 0) wait_for(load(memory, target));
      __syncwarp();
      if (threadIdx.x + 1 < fewest) wait_for(load(memory, mine));
      if (threadIdx.x == 31) wait_for(load(memory, candidate));
      __syncwarp();
      other = __shfl_sync(0xffffffffu, threadIdx.x == 0 ? timed(memory, target) > limit : 0u, 0) != 0;
    }
    if (!other) continue;
    if (threadIdx.x == 0) lines[count] = candidate;
    __syncwarp();
    ++count;
  }
  return count;
}

__device__ bool on_multiprocessor_0() {
  unsigned sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  return sm == 0;
}

// Finds lines of the set of target `number`, among all `lines` of the memory. What is found stays for the launches that follow.
extern "C" __global__ void find_set(const char* memory, unsigned* found, unsigned number, unsigned lines, unsigned turns,
                                    unsigned limit) {
  if (!on_multiprocessor_0()) return;
  unsigned* own = found + number * 128;
  if (own[1] != 0) return;  // an earlier launch found it
  unsigned fewest = 0, target = 0, asked = 0, own_limit = limit;
  for (unsigned attempt = 0; attempt < 32 && fewest == 0; ++attempt) {
    target = 1 + chance(number * 32 + attempt + 1) % (lines - 1);
    own_limit = limit;
    fewest = fewest_lines(memory, target, lines, 31, turns, own_limit);  // a warp holds one less in what follows
    __syncthreads();
  }
  bool at_once = fewest > 0;  // each time, and not sooner or later
  for (unsigned again = 0; at_once && again < 3; ++again) at_once = puts_out(memory, target, fewest, 1, 0, 0, 1, own_limit);
  if (threadIdx.x < fewest) own[4 + threadIdx.x] = list[threadIdx.x];
  __syncthreads();
  if (threadIdx.x >= 32) return;
  const unsigned count = at_once ? extended(memory, target, own + 4, fewest, 120, lines, own_limit, &asked) : fewest;
  if (threadIdx.x == 0) { own[0] = count; own[1] = target; own[2] = asked; own[3] = fewest; }
}

// The fewest lines that put the target out, how many more were found, and of how many.
extern "C" __global__ void show(unsigned* numbers, const unsigned* found, unsigned number) {
  const unsigned* own = found + number * 128;
  numbers[0] = own[3]; numbers[1] = own[0] - own[3]; numbers[2] = own[2];
}

// The target's latency after it and then the others of `n` lines of its set were loaded, one after the other, `turns` times.
extern "C" __global__ void load_some(unsigned* took, const char* memory, const unsigned* found, unsigned number, unsigned n, unsigned times,
                                     unsigned turns) {
  if (threadIdx.x != 0 || !on_multiprocessor_0()) return;
  const unsigned* own = found + number * 128;
  for (unsigned i = 0; i < times; ++i) {
    wait_for(load(memory, own[1]));
    for (unsigned turn = 0; turn < turns; ++turn)
      for (unsigned k = 0; k + 1 < min(n, own[0] + 1); ++k) wait_for(load(memory, own[4 + k]));
    took[i] = timed(memory, own[1]);
  }
}

#ifdef HINT
// The line is out of the cache, and what a hint said of it is forgotten.
__device__ __forceinline__ void drop(char* memory, unsigned line) {
  asm volatile("discard.global.L2 [%0], 128;" ::"l"(memory + (unsigned long long)line / (128 / LINE) * 128) : "memory");
}
// hint: 0 none, 1 to be evicted last, 2 to be evicted first.
__device__ __forceinline__ unsigned load_hinted(const char* memory, unsigned line, unsigned hint) {
  if (hint == 0) return load(memory, line);
  unsigned value;
  unsigned long long policy;
  if (hint == 1) asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  else asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  asm volatile("ld.global.cg.L2::cache_hint.u32 %0, [%1], %2;" : "=r"(value) : "l"(memory + (unsigned long long)line * LINE), "l"(policy) : "memory");
  return value;
}
#else
#define HINT 0
__device__ __forceinline__ void drop(char*, unsigned) {}
__device__ __forceinline__ unsigned load_hinted(const char* memory, unsigned line, unsigned) { return load(memory, line); }
#endif

// A set is filled, its lines are loaded once more in another order each time, then comes a line that was not in it. The latency of the
// line that was loaded `position`-th. With HINT that one was loaded with a hint: 1 to be evicted last, 2 to be evicted first. The set is
// that of the first target of which `ways` lines were found to be needed.
extern "C" __global__ void load_one_more(unsigned* took, char* memory, const unsigned* found, unsigned targets, unsigned ways, unsigned position,
                                         unsigned times) {
  if (threadIdx.x != 0 || !on_multiprocessor_0()) return;
  unsigned number = 0;
  while (number + 1 < targets && found[number * 128 + 3] != ways) ++number;
  const unsigned* own = found + number * 128;
  for (unsigned i = 0; i < times; ++i) {
    for (unsigned k = 0; k < ways; ++k) drop(memory, own[4 + k]);
    drop(memory, own[1]);
    __threadfence();
    for (unsigned k = 0; k < 24 * ways; ++k) wait_for(load(memory, own[4 + k % ways]));
    const bool odd_steps = (ways & (ways - 1)) == 0;  // they visit each line where the number of lines is a power of two
    const unsigned step = odd_steps ? 1 + 2 * (chance(i) % ways / 2) : 1;
    unsigned at = chance(i + 4096u) % ways, asked = own[1];
    for (unsigned k = 0; k < ways; ++k, at = (at + step) % ways) {
      const unsigned line = own[4 + at];
      if (k == position) asked = line;
      wait_for(load_hinted(memory, line, k == position ? HINT : 0));
    }
    wait_for(load(memory, own[1]));
    took[i] = timed(memory, asked);
  }
}
