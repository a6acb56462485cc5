// SPDX-License-Identifier: Apache-2.0
// What has an instruction or a library function of its own on the device. Comes before operations.cu.
#define FN __device__ __forceinline__

FN int popc32(unsigned a) { return __popc((int)a); }
FN int popc64(unsigned long long a) { return __popcll((long long)a); }
FN int clz32(unsigned a) { return __clz((int)a); }
FN int clz64(unsigned long long a) { return __clzll((long long)a); }
FN int ffs32(unsigned a) { return __ffs((int)a); }
FN int ffs64(unsigned long long a) { return __ffsll((long long)a); }
FN unsigned brev32(unsigned a) { return __brev(a); }
FN unsigned long long brev64(unsigned long long a) { return __brevll(a); }
FN int mulhi_s32(int a, int b) { return __mulhi(a, b); }
FN unsigned mulhi_u32(unsigned a, unsigned b) { return __umulhi(a, b); }
FN long long mulhi_s64(long long a, long long b) { return __mul64hi(a, b); }
FN unsigned long long mulhi_u64(unsigned long long a, unsigned long long b) { return __umul64hi(a, b); }
FN unsigned shift_left_wrap(unsigned a, unsigned b, unsigned n) { return __funnelshift_l(a, b, n); }
FN unsigned shift_right_wrap(unsigned a, unsigned b, unsigned n) { return __funnelshift_r(a, b, n); }
FN unsigned shift_left_clamp(unsigned a, unsigned b, unsigned n) { return __funnelshift_lc(a, b, n); }
FN unsigned shift_right_clamp(unsigned a, unsigned b, unsigned n) { return __funnelshift_rc(a, b, n); }
FN unsigned byte_permute(unsigned a, unsigned b, unsigned selector) { return __byte_perm(a, b, selector); }

// NVRTC 11.8 computes `(x + c) * k` with constants c and k as `x * k + c * k` where the sum is widened in between, with its sign: wrong
// where the narrow sum wraps. (short)(32767 + 1) * 63 becomes 32768 * 63. A factor that it cannot see through is left alone.
template <class T> FN T factor(T a) {
#if __CUDACC_VER_MAJOR__ < 12
  if (sizeof(T) == 8) {
    asm("mov.b64 %0, %0;" : "+l"(*(unsigned long long*)&a));
  } else if (sizeof(T) == 4) {
    asm("mov.b32 %0, %0;" : "+r"(*(unsigned*)&a));
  } else if (sizeof(T) == 2) {
    asm("mov.b16 %0, %0;" : "+h"(*(unsigned short*)&a));
  }
#endif
  return a;
}

// PTX that CUDA has no name for.
#define WORDS2(name, text)                                              \
  template <class T> FN unsigned name(T a, T b) {                        \
    unsigned d;                                                          \
    asm(text : "=r"(d) : "r"((unsigned)a), "r"((unsigned)b));            \
    return d;                                                            \
  }
#define WORDS3(name, text)                                                           \
  template <class T> FN unsigned name(T a, T b, T c) {                                \
    unsigned d;                                                                       \
    asm(text : "=r"(d) : "r"((unsigned)a), "r"((unsigned)b), "r"((unsigned)c));       \
    return d;                                                                         \
  }
WORDS2(mul24_low, "mul24.lo.u32 %0, %1, %2;")
WORDS2(mul24_high, "mul24.hi.s32 %0, %1, %2;")
WORDS2(add_saturated, "add.sat.s32 %0, %1, %2;")
WORDS3(distance_added, "sad.s32 %0, %1, %2, %3;")
WORDS2(mask_bits, "bmsk.clamp.b32 %0, %1, %2;")
WORDS2(extend_bits, "szext.clamp.s32 %0, %1, %2;")
WORDS3(find_set, "{ .reg .b32 t; and.b32 t, %2, 31; fns.b32 %0, %1, t, %3; }")
WORDS3(insert_bits, "{ .reg .b32 t, u; and.b32 t, %3, 63; bfe.u32 u, %3, 8, 6; bfi.b32 %0, %1, %2, t, u; }")
WORDS3(carried_up, "{ .reg .b32 t; add.cc.u32 t, %1, %2; addc.cc.u32 t, t, %3; addc.u32 %0, t, %1; }")
WORDS3(borrowed, "{ .reg .b32 t; sub.cc.u32 t, %1, %2; subc.cc.u32 t, t, %3; subc.u32 %0, t, %2; }")
WORDS3(carried_product, "{ .reg .b32 t; mad.lo.cc.u32 t, %1, %2, %3; madc.hi.u32 %0, %1, %2, t; }")
WORDS2(replicate_byte, "prmt.b32.rc8 %0, %1, %2, %2;")
WORDS3(pack_bytes, "cvt.pack.sat.s8.s32.b32 %0, %1, %2, %3;")
WORDS3(bytes_apart, "vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;")
WORDS2(halves_added, "{ .reg .b32 nothing; mov.b32 nothing, 0; vadd2.s32.s32.s32.sat %0, %1, %2, nothing; }")  // ptxas wants a register there
WORDS3(byte_merged, "vadd.u32.s32.u32.sat %0.b1, %1.b2, %2.h0, %3;")
WORDS2(minimum_halves, "{ .reg .b16 a, b, c, d; mov.b32 {a, b}, %1; mov.b32 {c, d}, %2; min.s16 a, a, c; max.u16 b, b, d; mov.b32 %0, {a, b}; }")
WORDS2(half_sum, "add.rn.f16x2 %0, %1, %2;")
WORDS2(half_product, "mul.rn.f16x2 %0, %1, %2;")
WORDS3(half_fused, "fma.rn.f16x2 %0, %1, %2, %3;")
WORDS3(bytes_product, "dp4a.u32.s32 %0, %1, %2, %3;")
WORDS3(halves_product, "dp2a.hi.s32.u32 %0, %1, %2, %3;")
WORDS2(leading_zeros, "{ .reg .b32 t; xor.b32 t, %1, %2; bfind.shiftamt.u32 %0, t; }")
WORDS2(bytes_average, "{ .reg .b32 nothing; mov.b32 nothing, 0; vavrg4.u32.u32.u32 %0, %1, %2, nothing; }")
WORDS3(bytes_below, "vset4.u32.u32.lt.add %0, %1, %2, %3;")

FN float fsqrt(float a) { return sqrtf(a); }
FN double fsqrt(double a) { return sqrt(a); }
FN float fabsolute(float a) { return fabsf(a); }
FN double fabsolute(double a) { return fabs(a); }
FN float round_down(float a) { return floorf(a); }
FN double round_down(double a) { return floor(a); }
FN float round_up(float a) { return ceilf(a); }
FN double round_up(double a) { return ceil(a); }
FN float round_to_zero(float a) { return truncf(a); }
FN double round_to_zero(double a) { return trunc(a); }
FN float round_to_even(float a) { return rintf(a); }
FN double round_to_even(double a) { return rint(a); }
FN float round_away(float a) { return roundf(a); }
FN double round_away(double a) { return round(a); }
FN float fremainder(float a, float b) { return fmodf(a, b); }
FN double fremainder(double a, double b) { return fmod(a, b); }
FN float lesser_number(float a, float b) { return fminf(a, b); }
FN double lesser_number(double a, double b) { return fmin(a, b); }
FN float greater_number(float a, float b) { return fmaxf(a, b); }
FN double greater_number(double a, double b) { return fmax(a, b); }
FN float fused(float a, float b, float c) { return fmaf(a, b, c); }
FN double fused(double a, double b, double c) { return fma(a, b, c); }
FN float copy_sign(float a, float b) { return copysignf(a, b); }
FN double copy_sign(double a, double b) { return copysign(a, b); }

FN unsigned float_as_bits(float a) { return __float_as_uint(a); }
FN unsigned long long double_as_bits(double a) { return (unsigned long long)__double_as_longlong(a); }
FN float float_from_bits(unsigned a) { return __uint_as_float(a); }
FN double double_from_bits(unsigned long long a) { return __longlong_as_double((long long)a); }

// Saturating conversions: to_nearest<int>(1.5f).
template <class T, class F> struct Converted;
#define CONVERSIONS(T, t, F, f)                             \
  template <> struct Converted<T, F> {                      \
    FN static T nearest(F a) { return __##f##2##t##_rn(a); } \
    FN static T zero(F a) { return __##f##2##t##_rz(a); }    \
    FN static T down(F a) { return __##f##2##t##_rd(a); }    \
    FN static T up(F a) { return __##f##2##t##_ru(a); }      \
  };
CONVERSIONS(int, int, float, float)
CONVERSIONS(unsigned, uint, float, float)
CONVERSIONS(long long, ll, float, float)
CONVERSIONS(unsigned long long, ull, float, float)
CONVERSIONS(int, int, double, double)
CONVERSIONS(unsigned, uint, double, double)
CONVERSIONS(long long, ll, double, double)
CONVERSIONS(unsigned long long, ull, double, double)
template <class T, class F> FN T to_nearest(F a) { return Converted<T, F>::nearest(a); }
template <class T, class F> FN T to_zero(F a) { return Converted<T, F>::zero(a); }
template <class T, class F> FN T to_down(F a) { return Converted<T, F>::down(a); }
template <class T, class F> FN T to_up(F a) { return Converted<T, F>::up(a); }

typedef unsigned long long u64;
#define ATOMIC(name, function)                                                    \
  FN int name(int* at, int b) { return function(at, b); }                         \
  FN unsigned name(unsigned* at, unsigned b) { return function(at, b); }          \
  FN u64 name(u64* at, u64 b) { return function(at, b); }
ATOMIC(atomic_add, atomicAdd)
ATOMIC(atomic_exch, atomicExch)
ATOMIC(atomic_min, atomicMin)
ATOMIC(atomic_max, atomicMax)
ATOMIC(atomic_and, atomicAnd)
ATOMIC(atomic_or, atomicOr)
ATOMIC(atomic_xor, atomicXor)
FN long long atomic_add(long long* at, long long b) { return (long long)atomicAdd((u64*)at, (u64)b); }
FN long long atomic_exch(long long* at, long long b) { return (long long)atomicExch((u64*)at, (u64)b); }
FN long long atomic_min(long long* at, long long b) { return atomicMin(at, b); }
FN long long atomic_max(long long* at, long long b) { return atomicMax(at, b); }
FN long long atomic_and(long long* at, long long b) { return (long long)atomicAnd((u64*)at, (u64)b); }
FN long long atomic_or(long long* at, long long b) { return (long long)atomicOr((u64*)at, (u64)b); }
FN long long atomic_xor(long long* at, long long b) { return (long long)atomicXor((u64*)at, (u64)b); }
FN unsigned atomic_inc(unsigned* at, unsigned b) { return atomicInc(at, b); }
FN unsigned atomic_dec(unsigned* at, unsigned b) { return atomicDec(at, b); }
FN int atomic_cas(int* at, int seen, int b) { return atomicCAS(at, seen, b); }
FN unsigned atomic_cas(unsigned* at, unsigned seen, unsigned b) { return atomicCAS(at, seen, b); }
FN u64 atomic_cas(u64* at, u64 seen, u64 b) { return atomicCAS(at, seen, b); }
FN long long atomic_cas(long long* at, long long seen, long long b) { return (long long)atomicCAS((u64*)at, (u64)seen, (u64)b); }
