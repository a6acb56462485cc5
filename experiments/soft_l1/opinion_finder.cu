// SPDX-License-Identifier: Apache-2.0
// Opinions about a subject: each thread goes through tweets of its own. A word is looked up among the subject's keywords, and in a lexicon
// of good and bad words. A tweet that has a keyword gets the sum of its words.
#define TEXT_OF(x) #x
#define LOAD(to, type, level, from) asm volatile("ld.global." TEXT_OF(level) "." type " %0, [%1];" : "=r"(to) : "l"(from))
#define KEYWORDS 256
#define LEXICON 4096

__device__ unsigned mixed(unsigned x) {
  x = (x ^ x >> 15) * 0x85ebca6bu;
  return x ^ x >> 13;
}

/// A word of 2 to 7 letters in every eight characters. Some words are much more frequent than others.
__global__ void write(unsigned char* tweets, unsigned n) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const unsigned drawn = mixed(i / 8 + 1) & 255, word = drawn * drawn * drawn >> 14;
    tweets[i] = i % 8 < 2 + word % 6 ? 'a' + mixed(word * 8 + i % 8) % 26 : ' ';
  }
}

/// One keyword in 16; one word in four of the lexicon says something.
__global__ void look_up(unsigned char* keywords, signed char* lexicon) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < LEXICON; i += gridDim.x * blockDim.x) {
    if (i < KEYWORDS) keywords[i] = mixed(i + 77) % 16 == 0;
    lexicon[i] = mixed(i) % 8 == 0 ? 1 : mixed(i) % 8 == 1 ? -1 : 0;
  }
}

__global__ void opinions(const unsigned char* tweets, const unsigned char* keywords, const signed char* lexicon, int* scores,
                         unsigned length, unsigned chunk) {
  const unsigned first = (blockIdx.x * blockDim.x + threadIdx.x) * chunk;
  for (unsigned tweet = first; tweet < first + chunk; ++tweet) {
    unsigned word = 0, meant = 0;
    int score = 0;
    for (unsigned i = 0; i < length; ++i) {
      unsigned c, key;
      int value;
      LOAD(c, "u8", LEVEL, tweets + tweet * length + i);
      if (c > ' ') {
        word = word * 31 + c;
      } else if (word != 0) {
        LOAD(key, "u8", LEVEL, keywords + word % KEYWORDS);
        LOAD(value, "s8", LEVEL, lexicon + word % LEXICON);
        meant |= key;
        score += value;
        word = 0;
      }
    }
    scores[tweet] = meant ? score : 0;
  }
}
