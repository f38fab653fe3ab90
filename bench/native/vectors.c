// What vectors.py compares with: reading memory, and loops by hand over weights that are floats, halves, bytes or 4 bits.
//
// Each loop is over rows of N x K weights and multiplies a row with the vector in four accumulators, of 16 floats where the processor has
// such vectors, else of 8.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined __AVX512F__ || defined __AVX2__
#  include <immintrin.h>
#endif

#ifdef __AVX512F__
enum { LANES = 16 };
#else
enum { LANES = 8 };
#endif
enum { SUMS = 4, STEP = LANES * SUMS };

typedef float floats __attribute__((vector_size(4 * LANES)));
typedef uint32_t words __attribute__((vector_size(4 * LANES)));
typedef int8_t bytes __attribute__((vector_size(LANES)));
typedef uint16_t halves __attribute__((vector_size(2 * LANES)));

// Compilers make one instruction of the conversion of bytes where they are told to.
static floats floats_of_bytes(const int8_t *at) {
#ifdef __AVX512F__
  return (floats)_mm512_cvtepi32_ps(
      _mm512_cvtepi8_epi32(_mm_loadu_si128((const void *)at)));
#elif defined __AVX2__
  return (floats)_mm256_cvtepi32_ps(
      _mm256_cvtepi8_epi32(_mm_loadl_epi64((const void *)at)));
#else
  bytes b;
  memcpy(&b, at, sizeof b);
  return __builtin_convertvector(b, floats);
#endif
}

static words words_of_halves(const uint16_t *at) {
#ifdef __AVX512F__
  return (words)_mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)at));
#elif defined __AVX2__
  return (words)_mm256_cvtepu16_epi32(_mm_loadu_si128((const void *)at));
#else
  halves h;
  memcpy(&h, at, sizeof h);
  return __builtin_convertvector(h, words);
#endif
}

// The weights of as many words of 8 as there are lanes for, each as the 4 bits of its lane.
static words digits_of(const uint32_t *at) {
#ifdef __AVX512F__
  const words shift = {0, 4, 8, 12, 16, 20, 24, 28, 0, 4, 8, 12, 16, 20, 24, 28};
  __m512i both = _mm512_inserti64x4(_mm512_set1_epi32((int)at[0]),
                                    _mm256_set1_epi32((int)at[1]), 1);
  return (words)both >> shift & 15;
#else
  const words shift = {0, 4, 8, 12, 16, 20, 24, 28};
  return (at[0] - (words){0}) >> shift & 15;
#endif
}

static floats floats_of(words digits) {
#ifdef __AVX512F__
  return (floats)_mm512_cvtepi32_ps((__m512i)digits);
#elif defined __AVX2__
  return (floats)_mm256_cvtepi32_ps((__m256i)digits);
#else
  return __builtin_convertvector(digits, floats);
#endif
}

static floats load(const float *at) {
  floats v;
  memcpy(&v, at, sizeof v);
  return v;
}

static float total(const floats *sums) {
  floats all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  float sum = 0;
  for (int i = 0; i < LANES; i++)
    sum += all[i];
  return sum;
}

static void add_lines(words *sums, const char *at) {
  for (int s = 0; s < 8; s++) {
    words v;
    memcpy(&v, at + (size_t)s * sizeof v, sizeof v);
    sums[s] += v;
  }
}

// Reads `size` bytes in `parts` parts that are gone through together: by one part large pages are read fastest,
// by four or eight small ones.
uint32_t read_all(const void *from, size_t size, size_t parts) {
  const char *at = from;
  words sums[8] = {0};
  size_t part = size / parts;
  for (size_t i = 0; i + sizeof sums <= part; i += sizeof sums)
    for (size_t p = 0; p < parts; p++)
      add_lines(sums, at + p * part + i);
  uint32_t all = 0;
  for (int s = 0; s < 8; s++)
    for (int i = 0; i < LANES; i++)
      all += sums[s][i];
  return all;
}

void by_hand_f32(const float *x, const float *w, float *y, size_t n, size_t k) {
  for (size_t i = 0; i < n; i++) {
    floats sums[SUMS] = {0};
    for (size_t j = 0; j < k; j += STEP)
      for (size_t s = 0; s < SUMS; s++)
        sums[s] += load(x + j + s * LANES) * load(w + i * k + j + s * LANES);
    y[i] = total(sums);
  }
}

void by_hand_bf16(const float *x, const uint16_t *w, float *y, size_t n, size_t k) {
  for (size_t i = 0; i < n; i++) {
    floats sums[SUMS] = {0};
    for (size_t j = 0; j < k; j += STEP) {
      for (size_t s = 0; s < SUMS; s++) {
        words bits = words_of_halves(w + i * k + j + s * LANES) << 16;
        sums[s] += load(x + j + s * LANES) * (floats)bits;
      }
    }
    y[i] = total(sums);
  }
}

void by_hand_i8(const float *x, const int8_t *w, const float *scale, float *y, size_t n,
                size_t k) {
  for (size_t i = 0; i < n; i++) {
    floats sums[SUMS] = {0};
    for (size_t j = 0; j < k; j += STEP)
      for (size_t s = 0; s < SUMS; s++)
        sums[s] += load(x + j + s * LANES) * floats_of_bytes(w + i * k + j + s * LANES);
    y[i] = total(sums) * scale[i];
  }
}

// A word is 8 weights; 32 of them share a scale.
void by_hand_q4(const float *x, const uint32_t *w, const float *scale, float *y,
                size_t n, size_t k) {
  for (size_t i = 0; i < n; i++) {
    floats sums[SUMS] = {0};
    const uint32_t *row = w + i * (k / 8);
    const float *scales = scale + i * (k / 32);
    for (size_t j = 0; j < k; j += STEP) {
      for (size_t s = 0; s < SUMS; s++) {
        floats digits = floats_of(digits_of(row + (j + s * LANES) / 8)) - 7.0f;
        sums[s] += load(x + j + s * LANES) * (digits * scales[(j + s * LANES) / 32]);
      }
    }
    y[i] = total(sums);
  }
}
