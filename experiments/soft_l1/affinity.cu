// SPDX-License-Identifier: Apache-2.0
// Merchants that customers of one merchant go to: each thread goes through payments of its own, a line each. Whether the customer is one of
// those is looked up, and the merchant's count goes up by an atomic operation.
#define TEXT_OF(x) #x
#define LOAD(to, level, from) asm volatile("ld.global." TEXT_OF(level) ".u8 %0, [%1];" : "=r"(to) : "l"(from))
#define LINE 16
#define CUSTOMERS 8192
#define MERCHANTS 1000

__device__ unsigned mixed(unsigned x) {
  x = (x ^ x >> 15) * 0x85ebca6bu;
  return x ^ x >> 13;
}

__device__ unsigned digit(unsigned number, unsigned place) {
  while (place-- > 0) number /= 10;
  return '0' + number % 10;
}

/// "CUSTOM,MERC,050\n": six digits, four, and the amount. Some merchants are much more frequent than others.
__global__ void write(unsigned char* payments, unsigned n) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const unsigned payment = i / LINE, at = i % LINE, drawn = mixed(payment * 3 + 1) & 255;
    payments[i] = at < 6                ? digit(mixed(payment + 1) % CUSTOMERS, 5 - at)
                  : at > 6 && at < 11 ? digit((drawn * drawn * drawn >> 14) % MERCHANTS, 10 - at)
                                        : "      ,    ,050\n"[at];
  }
}

/// Customers of the merchant.
__global__ void mark(const unsigned char* payments, unsigned char* customers, unsigned n, unsigned merchant) {
  for (unsigned p = blockIdx.x * blockDim.x + threadIdx.x; p < n; p += gridDim.x * blockDim.x) {
    unsigned customer = 0, to = 0;
    for (unsigned i = 0; i < 6; ++i) customer = customer * 10 + payments[p * LINE + i] - '0';
    for (unsigned i = 7; i < 11; ++i) to = to * 10 + payments[p * LINE + i] - '0';
    if (to == merchant) customers[customer] = 1;
  }
}

__global__ void affinity(const unsigned char* payments, const unsigned char* customers, unsigned* visits, unsigned chunk) {
  const unsigned first = (blockIdx.x * blockDim.x + threadIdx.x) * chunk;
  unsigned number = 0, customer = 0, fields = 0;
  for (unsigned i = first; i < first + chunk; ++i) {
    unsigned c, known;
    LOAD(c, LEVEL, payments + i);
    if (c >= '0') {
      number = number * 10 + c - '0';
      continue;
    }
    if (fields == 0) customer = number;
    if (fields == 1) {
      LOAD(known, LEVEL, customers + customer);
      if (known) atomicAdd(visits + number, 1);
    }
    number = 0;
    fields = c == '\n' ? 0 : fields + 1;
  }
}
