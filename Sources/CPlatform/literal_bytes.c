#include "literal_bytes.h"

#include "bits.h"

/* Bytes that are written at once. */
#define STEP 32
#define LONGEST_RUN 258
#define MOST_COSTS 128

INLINE uint32_t reversed(uint8_t byte) {
  uint32_t bits = (byte & 0x55u) << 1 | (byte >> 1 & 0x55u);
  bits = (bits & 0x33u) << 2 | (bits >> 2 & 0x33u);
  return (bits & 0x0fu) << 4 | bits >> 4;
}

INLINE void put_literal(
  uint8_t byte, const scanmill_literal_code *code, scanmill_bit_sink *sink) {
  uint8_t place = (uint8_t)(byte + code->near);
  uint32_t ones = code->longest - 8;
  if (place < 2 * code->near) put(sink, code->bits[place], code->lengths[place]);
  else put(sink, reversed(place) << ones | ((1u << ones) - 1), code->longest);
}

/* Writes the zeros at `bytes` as one literal and runs where that is possible. Returns how many were written. */
static int64_t put_zeros(
  const uint8_t *bytes, int64_t count, const scanmill_literal_code *code, scanmill_bit_sink *sink) {
  int64_t zeros = 0;
  while (zeros < count && bytes[zeros] == 0) zeros++;
  int64_t runs = (zeros - 1) / LONGEST_RUN;
  if (runs < 1) return 0;
  put_literal(0, code, sink);
  for (int64_t run = 0; run < runs; run++) put(sink, code->run_bits, code->run_length);
  return 1 + LONGEST_RUN * runs;
}

typedef uint8_t step_bytes __attribute__((ext_vector_type(STEP)));

/* With a left, b above, c above left, the distances of the prediction a + b - c are |b - c|, |a - c| and |a + b - 2c|.
   The third is at least as large as the others when a and b are on the same side of c, and otherwise it is their
   difference, so that bytes suffice. */
INLINE void paeth_step(
  const uint8_t *current, const uint8_t *left, const uint8_t *above, const uint8_t *above_left, uint8_t *residual) {
  step_bytes a, b, c, value;
  memcpy(&a, left, STEP);
  memcpy(&b, above, STEP);
  memcpy(&c, above_left, STEP);
  memcpy(&value, current, STEP);
  step_bytes most_bc = __builtin_elementwise_max(b, c), most_ac = __builtin_elementwise_max(a, c);
  step_bytes distance_a = most_bc - __builtin_elementwise_min(b, c);
  step_bytes distance_b = most_ac - __builtin_elementwise_min(a, c);
  step_bytes larger = __builtin_elementwise_max(distance_a, distance_b);
  step_bytes smaller = __builtin_elementwise_min(distance_a, distance_b);
  step_bytes distance_c = (larger - smaller) | (step_bytes)((b == most_bc) == (a == most_ac));
  step_bytes nearest_bc = __builtin_elementwise_min(distance_b, distance_c);
  step_bytes b_or_c = distance_b == nearest_bc ? b : c;
  value -= distance_a <= nearest_bc ? a : b_or_c;
  memcpy(residual, &value, STEP);
}

INLINE void paeth(
  const uint8_t *current, const uint8_t *above, int64_t pixel_bytes, int64_t count, uint8_t *residual) {
  int64_t i = 0;
  for (; i + STEP <= count; i += STEP) {
    paeth_step(current + i, current + i - pixel_bytes, above + i, above + i - pixel_bytes, residual + i);
  }
  if (i == count) return;
  uint8_t rest[5][STEP] = {0};
  memcpy(rest[0], current + i, count - i);
  memcpy(rest[1], current + i - pixel_bytes, count - i);
  memcpy(rest[2], above + i, count - i);
  memcpy(rest[3], above + i - pixel_bytes, count - i);
  paeth_step(rest[0], rest[1], rest[2], rest[3], rest[4]);
  memcpy(residual + i, rest[4], count - i);
}

INLINE int64_t value_bits(const uint8_t *bytes, int64_t count) {
  uint8_t costs[MOST_COSTS];
  for (int64_t i = 0; i < count; i++) {
    uint8_t value = bytes[i], negative = 0 - value, size = value < negative ? value : negative;
    uint8_t cost = 1 + (size > 0 ? 2 : 0) + (size > 1) + (size > 3) + (size > 7) + (size > 15) + (size > 31);
    uint8_t changes = (value ^ bytes[i - 2]) | (bytes[i - 1] ^ bytes[i - 3]) | (bytes[i - 2] ^ bytes[i - 4]);
    costs[i] = changes == 0 ? 0 : cost;
  }
  for (int64_t i = count; i % 8 != 0; i++) costs[i] = 0;
  /* At most sixteen words of eight sums of at most eight. */
  uint64_t sums = 0, low = 0x00ff00ff00ff00ff;
  for (int64_t i = 0; i < count; i += 8) {
    uint64_t word;
    memcpy(&word, costs + i, sizeof word);
    sums += word;
  }
  return ((sums & low) + (sums >> 8 & low)) * 0x0001000100010001 >> 48;
}

static void plain_write(
  const uint8_t *bytes, int64_t count, const scanmill_literal_code *code, scanmill_bit_sink *sink) {
  static const uint8_t zeros[STEP];
  int64_t i = 0;
  while (i + STEP <= count) {
    int64_t written = memcmp(bytes + i, zeros, STEP) == 0 ? put_zeros(bytes + i, count - i, code, sink) : 0;
    for (; written < STEP; written++) put_literal(bytes[i + written], code, sink);
    i += written;
  }
  for (; i < count; i++) put_literal(bytes[i], code, sink);
}

#if defined(__x86_64__) && defined(__clang__)
#define HAS_WIDE 1
#include <immintrin.h>
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2"))), apply_to = function)

INLINE __m256i table(const uint8_t *entries) {
  return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)entries));
}

/* What four tables say of 64 places (a byte's place is itself plus `near`), by the low four bits (`low`) and the two above them (the highest bits of `fifth`
   and `sixth`). */
INLINE __m256i look_up(const __m256i *tables, __m256i low, __m256i fifth, __m256i sixth) {
  __m256i first = _mm256_blendv_epi8(
    _mm256_shuffle_epi8(tables[0], low), _mm256_shuffle_epi8(tables[1], low), fifth);
  __m256i second = _mm256_blendv_epi8(
    _mm256_shuffle_epi8(tables[2], low), _mm256_shuffle_epi8(tables[3], low), fifth);
  return _mm256_blendv_epi8(first, second, sixth);
}

/* Joins codes of 16 bits, with how many of these are used, to four codes of up to 56 bits. */
INLINE void join(__m256i codes, __m256i lengths, uint64_t *joined, uint64_t *joined_lengths) {
  const __m256i half = _mm256_set1_epi32(0xffff), whole = _mm256_set1_epi64x(0xffffffff);
  __m256i pairs = _mm256_or_si256(
    _mm256_and_si256(codes, half),
    _mm256_sllv_epi32(_mm256_srli_epi32(codes, 16), _mm256_and_si256(lengths, half)));
  __m256i pair_lengths = _mm256_madd_epi16(lengths, _mm256_set1_epi16(1));
  __m256i first = _mm256_and_si256(pair_lengths, whole);
  _mm256_store_si256(
    (__m256i *)joined,
    _mm256_or_si256(
      _mm256_and_si256(pairs, whole), _mm256_sllv_epi64(_mm256_srli_epi64(pairs, 32), first)));
  _mm256_store_si256(
    (__m256i *)joined_lengths, _mm256_add_epi64(first, _mm256_srli_epi64(pair_lengths, 32)));
}

static void wide_write(
  const uint8_t *bytes, int64_t count, const scanmill_literal_code *code, scanmill_bit_sink *to) {
  scanmill_bit_sink sink = *to;
  uint32_t ones = code->longest - 8;
  /* The low and the high byte of long codes, by the low and the high half of the place. */
  uint8_t parts[4][16];
  for (uint8_t half = 0; half < 16; half++) {
    uint32_t by_low = reversed(half) << ones | ((1u << ones) - 1), by_high = reversed(half << 4) << ones;
    parts[0][half] = (uint8_t)by_low;
    parts[1][half] = (uint8_t)by_high;
    parts[2][half] = by_low >> 8;
    parts[3][half] = by_high >> 8;
  }
  __m256i bits[4], lengths[4], long_bits[4];
  for (int i = 0; i < 4; i++) {
    bits[i] = table(code->bits + 16 * i);
    lengths[i] = table(code->lengths + 16 * i);
    long_bits[i] = table(parts[i]);
  }
  const __m256i none = _mm256_setzero_si256(), low_half = _mm256_set1_epi8(15);
  const __m256i longest = _mm256_set1_epi8((char)code->longest), near = _mm256_set1_epi8((char)code->near);
  const __m256i first_long = _mm256_add_epi8(near, near);
  int64_t i = 0;
  while (i + STEP <= count) {
    __m256i values = _mm256_loadu_si256((const __m256i *)(bytes + i));
    if (__builtin_expect(_mm256_testz_si256(values, values), 0)) {
      int64_t written = put_zeros(bytes + i, count - i, code, &sink);
      i += written;
      if (written > 0) continue;
    }
    __m256i places = _mm256_add_epi8(values, near);
    __m256i low = _mm256_and_si256(places, low_half);
    __m256i high = _mm256_and_si256(_mm256_srli_epi16(places, 4), low_half);
    __m256i fifth = _mm256_slli_epi16(places, 3), sixth = _mm256_slli_epi16(places, 2);
    __m256i is_long = _mm256_cmpeq_epi8(_mm256_max_epu8(places, first_long), places);
    __m256i count_of = _mm256_blendv_epi8(look_up(lengths, low, fifth, sixth), longest, is_long);
    __m256i low_bytes = _mm256_blendv_epi8(
      look_up(bits, low, fifth, sixth),
      _mm256_or_si256(
        _mm256_shuffle_epi8(long_bits[0], low), _mm256_shuffle_epi8(long_bits[1], high)),
      is_long);
    __m256i high_bytes = _mm256_and_si256(
      is_long, _mm256_or_si256(
                 _mm256_shuffle_epi8(long_bits[2], low), _mm256_shuffle_epi8(long_bits[3], high)));
    /* Four bytes each: 0 4 16 20, then 8 12 24 28. */
    uint64_t joined[8] __attribute__((aligned(32))), joined_lengths[8] __attribute__((aligned(32)));
    join(
      _mm256_unpacklo_epi8(low_bytes, high_bytes), _mm256_unpacklo_epi8(count_of, none), joined,
      joined_lengths);
    join(
      _mm256_unpackhi_epi8(low_bytes, high_bytes), _mm256_unpackhi_epi8(count_of, none), joined + 4,
      joined_lengths + 4);
    static const uint8_t order[8] = {0, 1, 4, 5, 2, 3, 6, 7};
    for (int k = 0; k < 8; k++) put(&sink, joined[order[k]], joined_lengths[order[k]]);
    i += STEP;
  }
  for (; i < count; i++) put_literal(bytes[i], code, &sink);
  *to = sink;
}

static void wide_paeth(
  const uint8_t *current, const uint8_t *above, int64_t pixel_bytes, int64_t count, uint8_t *residual) {
  paeth(current, above, pixel_bytes, count, residual);
}

/* Most pieces are of one length, for which loops without a remainder are made. */
static int64_t wide_value_bits(const uint8_t *bytes, int64_t count) {
  return count == MOST_COSTS ? value_bits(bytes, MOST_COSTS) : value_bits(bytes, count);
}

#pragma clang attribute pop
#else
#define HAS_WIDE 0
#endif

void scanmill_paeth(
  bool wide, const uint8_t *current, const uint8_t *above, int64_t pixel_bytes, int64_t count,
  uint8_t *residual) {
#if HAS_WIDE
  if (wide) return wide_paeth(current, above, pixel_bytes, count, residual);
#endif
  paeth(current, above, pixel_bytes, count, residual);
}

int64_t scanmill_value_bits(bool wide, const uint8_t *bytes, int64_t count) {
#if HAS_WIDE
  if (wide) return wide_value_bits(bytes, count);
#endif
  return value_bits(bytes, count);
}

void scanmill_literals_count(const uint8_t *bytes, int64_t count, uint32_t *counts) {
  int64_t i = 0;
  for (; i + 4 <= count; i += 4) {
    counts[bytes[i]]++;
    counts[256 + bytes[i + 1]]++;
    counts[512 + bytes[i + 2]]++;
    counts[768 + bytes[i + 3]]++;
  }
  for (; i < count; i++) counts[bytes[i]]++;
}

void scanmill_literals_write(
  bool wide, const uint8_t *bytes, int64_t count, const scanmill_literal_code *code,
  scanmill_bit_sink *sink) {
#if HAS_WIDE
  if (wide) return wide_write(bytes, count, code, sink);
#endif
  plain_write(bytes, count, code, sink);
}
