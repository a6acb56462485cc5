// SPDX-License-Identifier: Apache-2.0
// What the operations of a differential test mean: one text, compiled for the device by NVRTC and for the host by the host's compiler.
// Nothing here is undefined for any operand. Where the device has an instruction of its own, host_operations.h says what it computes.

template <class T> struct Traits;
#define TRAITS(T, U, W, H) \
  template <> struct Traits<T> { typedef U Unsigned; typedef W Working; typedef H Half; }
TRAITS(signed char, unsigned char, unsigned, signed char);
TRAITS(unsigned char, unsigned char, unsigned, unsigned char);
TRAITS(short, unsigned short, unsigned, signed char);
TRAITS(unsigned short, unsigned short, unsigned, unsigned char);
TRAITS(int, unsigned, unsigned, short);
TRAITS(unsigned, unsigned, unsigned, unsigned short);
TRAITS(long long, unsigned long long, unsigned long long, int);
TRAITS(unsigned long long, unsigned long long, unsigned long long, unsigned);
#define INTEGER template <class T> FN
#define WORKING(x) ((typename Traits<T>::Working)(x))  // the unsigned type in which C++ computes: overflow wraps
#define UNSIGNED(x) ((typename Traits<T>::Unsigned)(x))
#define BITS ((int)sizeof(T) * 8)

INTEGER T neg(T a) { return (T)(0 - WORKING(a)); }
INTEGER T bnot(T a) { return (T)~a; }
INTEGER int lnot(T a) { return !a; }
INTEGER T iabs(T a) { return a < (T)0 ? neg(a) : a; }
INTEGER int sign(T a) { return (a > (T)0) - (a < (T)0); }
INTEGER int popc(T a) { return BITS == 64 ? popc64(UNSIGNED(a)) : popc32((unsigned)UNSIGNED(a)); }
INTEGER int clz(T a) { return BITS == 64 ? clz64(UNSIGNED(a)) : clz32((unsigned)UNSIGNED(a)) - (32 - BITS); }
INTEGER int ffs(T a) { return BITS == 64 ? ffs64(UNSIGNED(a)) : ffs32((unsigned)UNSIGNED(a)); }
INTEGER T brev(T a) { return BITS == 64 ? (T)brev64(UNSIGNED(a)) : (T)(brev32((unsigned)UNSIGNED(a)) >> (32 - BITS) % 32); }
INTEGER T add(T a, T b) { return (T)(WORKING(a) + WORKING(b)); }
INTEGER T sub(T a, T b) { return (T)(WORKING(a) - WORKING(b)); }
INTEGER T mul(T a, T b) { return (T)(WORKING(factor(a)) * WORKING(factor(b))); }
INTEGER T div(T a, T b) { return b == (T)0 ? (T)~a : (T)-1 < (T)0 && b == (T)-1 ? neg(a) : (T)(a / b); }
INTEGER T rem(T a, T b) { return b == (T)0 ? a : (T)-1 < (T)0 && b == (T)-1 ? (T)0 : (T)(a % b); }
INTEGER T mulhi(T a, T b) {
  if (sizeof(T) == 8) return (T)-1 < (T)0 ? (T)mulhi_s64((long long)a, (long long)b) : (T)mulhi_u64((unsigned long long)a, (unsigned long long)b);
  if (sizeof(T) == 4) return (T)-1 < (T)0 ? (T)mulhi_s32((int)a, (int)b) : (T)mulhi_u32((unsigned)a, (unsigned)b);
  return (T)((long long)factor(a) * factor(b) >> BITS % 64);
}
// The product of the operands' low halves, which fits: no wrapping is asked for.
INTEGER T mulwide(T a, T b) { return (T)((T)factor((typename Traits<T>::Half)a) * (T)factor((typename Traits<T>::Half)b)); }
INTEGER T band(T a, T b) { return (T)(a & b); }
INTEGER T bor(T a, T b) { return (T)(a | b); }
INTEGER T bxor(T a, T b) { return (T)(a ^ b); }
INTEGER T shl(T a, T b) { return (T)(WORKING(a) << (UNSIGNED(b) & (BITS - 1))); }
INTEGER T shr(T a, T b) { return (T)(a >> (UNSIGNED(b) & (BITS - 1))); }
INTEGER T rotl(T a, T b) {
  const int n = (int)(UNSIGNED(b) & (BITS - 1));
  return (T)((UNSIGNED(a) << n) | (UNSIGNED(a) >> ((BITS - n) & (BITS - 1))));
}
INTEGER T imin(T a, T b) { return a < b ? a : b; }
INTEGER T imax(T a, T b) { return a > b ? a : b; }
INTEGER T distance(T a, T b) { return a > b ? sub(a, b) : sub(b, a); }
INTEGER int lt(T a, T b) { return a < b; }
INTEGER int le(T a, T b) { return a <= b; }
INTEGER int gt(T a, T b) { return a > b; }
INTEGER int ge(T a, T b) { return a >= b; }
INTEGER int eq(T a, T b) { return a == b; }
INTEGER int ne(T a, T b) { return a != b; }
INTEGER T mad(T a, T b, T c) { return (T)(WORKING(factor(a)) * WORKING(factor(b)) + WORKING(c)); }
INTEGER T madwide(T a, T b, T c) { return add(mulwide(a, b), c); }
INTEGER T madhi(T a, T b, T c) { return add(mulhi(a, b), c); }
INTEGER T clamp(T a, T b, T c) { return imin(imax(a, b), c); }
INTEGER T choose_bits(T a, T b, T c) { return (T)((a & b) | (~a & c)); }
INTEGER T majority(T a, T b, T c) { return (T)((a & b) | (a & c) | (b & c)); }
INTEGER T extract(T a, T b, T c) {  // 1 to 8 bits of a, from bit b on, with their sign if T has one
  const int length = 1 + (int)(UNSIGNED(c) & 7);
  const int from = (int)(UNSIGNED(b) & (BITS - 1)) % (BITS - length + 1);
  return (T)((T)(WORKING(a) << (BITS - length - from)) >> (BITS - length));
}
INTEGER T insert(T a, T b, T c) {  // 8 bits of b into a, at bit c
  const int at = (int)(UNSIGNED(c) & (BITS - 1)) & ~7;
  return (T)((UNSIGNED(a) & ~(WORKING(255) << at)) | ((WORKING(b) & 255) << at));
}

template <class T> FN unsigned funnel_left(T a, T b, T c) { return shift_left_wrap(a, b, c); }
template <class T> FN unsigned funnel_right(T a, T b, T c) { return shift_right_wrap(a, b, c); }
template <class T> FN unsigned funnel_left_clamp(T a, T b, T c) { return shift_left_clamp(a, b, c); }
template <class T> FN unsigned funnel_right_clamp(T a, T b, T c) { return shift_right_clamp(a, b, c); }
template <class T> FN unsigned permute(T a, T b, T c) { return byte_permute(a, b, c); }

#define FLOAT template <class T> FN
FLOAT T fneg(T a) { return -a; }
FLOAT T frcp(T a) { return (T)1 / a; }
FLOAT T magnitude(T a) { return a < (T)0 ? -a : a; }
FLOAT T fadd(T a, T b) { return a + b; }
FLOAT T fsub(T a, T b) { return a - b; }
FLOAT T fmul(T a, T b) { return a * b; }
FLOAT T fdiv(T a, T b) { return a / b; }
FLOAT T with_sign(T a, T b) { return copy_sign(a, b == b ? b : (T)1); }  // the sign of a NaN is nobody's business
FLOAT T fminimum(T a, T b) { return lesser_number(a, b) + (T)0; }  // of two zeros either may come: compilers do not agree with PTX
FLOAT T fmaximum(T a, T b) { return greater_number(a, b) + (T)0; }
FLOAT T greater(T a, T b) { return a > b ? a : b; }
FLOAT int flt(T a, T b) { return a < b; }
FLOAT int fle(T a, T b) { return a <= b; }
FLOAT int fgt(T a, T b) { return a > b; }
FLOAT int fge(T a, T b) { return a >= b; }
FLOAT int feq(T a, T b) { return a == b; }
FLOAT int fne(T a, T b) { return a != b; }
FLOAT int not_lt(T a, T b) { return !(a < b); }
FLOAT int not_le(T a, T b) { return !(a <= b); }
FLOAT int not_gt(T a, T b) { return !(a > b); }
FLOAT int not_ge(T a, T b) { return !(a >= b); }
FLOAT int ordered(T a, T b) { return a == a && b == b; }
FLOAT int less_or_greater(T a, T b) { return a < b || a > b; }

// The C++ conversion, where it is defined; else 0.
template <class T, class F> FN T truncated(F a) {
  const F half = (F)((typename Traits<T>::Unsigned)1 << (BITS - 2)) * (F)((T)-1 < (T)0 ? 2 : 4);  // one above the greatest T
  if ((T)-1 < (T)0) return a >= -half && a < half ? (T)a : (T)0;
  return a > (F)-1 && a < half ? (T)a : (T)0;
}
FN unsigned bits_of_float(float a) { return a == a ? float_as_bits(a) : 0x7fffffffu; }
FN unsigned long long bits_of_double(double a) { return a == a ? double_as_bits(a) : 0x7fffffffffffffffull; }

/// A loop of compare-and-swap whose updates commute.
template <class T> FN T atomic_loop(T* at, T b) {
  T old = *(volatile T*)at, seen;
  do {
    seen = old;
    old = atomic_cas(at, seen, add(seen, bxor(b, shr(b, (T)3))));
  } while (old != seen);
  return old;
}
