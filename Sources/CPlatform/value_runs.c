#include "value_runs.h"

#include "bits.h"

#define SHORTEST 6
/* Shortest run of zeros that is counted. */
#define SHORTEST_ZEROS 9
/* Longer runs are always worth a match. */
#define LONGEST_WEIGHED 32
#define LONGEST_RUN 258
/* Bytes before the first run: the filter and the first value. */
#define HEAD 3
/* A bit for each byte of a line, and two words of zeros behind them. */
#define WORDS ((SCANMILL_LONGEST_LINE + 63) / 64 + 2)

/* A bit for each of 64 bytes that equals its counterpart. */
typedef uint64_t (*equal_bytes)(const uint8_t *, const uint8_t *);

INLINE uint64_t plain_equal(const uint8_t *a, const uint8_t *b) {
  const uint64_t low = 0x7f7f7f7f7f7f7f7f;
  uint64_t bits = 0;
  for (int k = 0; k < 8; k++) {
    uint64_t difference = load64(a + 8 * k) ^ load64(b + 8 * k);
    uint64_t zeros = ~(((difference & low) + low) | difference | low);
    bits |= (((zeros >> 7) * 0x0102040810204080) >> 56) << (8 * k);
  }
  return bits;
}

/* Marks the bytes of a line that equal those two before. */
INLINE void mark(const uint8_t *line, int64_t count, equal_bytes equal, uint64_t *marks) {
  int64_t words = (count + 63) / 64;
  marks[0] = (equal(line + 2, line) << 2) & ~(uint64_t)((1 << HEAD) - 1);
  for (int64_t w = 1; w < words; w++) marks[w] = equal(line + 64 * w, line + 64 * w - 2);
  if (count % 64 != 0) marks[words - 1] &= ((uint64_t)1 << (count % 64)) - 1;
  marks[words] = marks[words + 1] = 0;
}

/* The marks of 64 bytes. */
INLINE uint64_t marks_from(const uint64_t *marks, int64_t place) {
  return marks[place / 64] >> place % 64 | marks[place / 64 + 1] << 1 << (63 - place % 64);
}

/* The first place from `place` on with as many marks as the shortest run; `count` or more if there is none. */
INLINE int64_t next_run(const uint64_t *marks, int64_t place, int64_t count) {
  for (; place < count; place += 64 - SHORTEST + 1) {
    uint64_t one = marks_from(marks, place), two = one & one >> 1, starts = two & two >> 2 & two >> 4;
    if (starts != 0) return place + __builtin_ctzll(starts);
  }
  return place;
}

/* The first place from `place` on without a mark. */
INLINE int64_t end_of_run(const uint64_t *marks, int64_t place) {
  for (;; place += 64) {
    uint64_t others = ~marks_from(marks, place);
    if (others != 0) return place + __builtin_ctzll(others);
  }
}

/* How many of the remaining bytes, at least three, one match takes so that at least three or none remain. */
INLINE int64_t first_part(int64_t rest) {
  if (rest <= LONGEST_RUN) return rest;
  return rest >= LONGEST_RUN + 3 ? LONGEST_RUN : rest - 3;
}

INLINE void count_literals(const uint8_t *line, int64_t from, int64_t to, uint32_t *counts) {
  int64_t i = from;
  for (; i + 4 <= to; i += 4) {
    counts[line[i]]++;
    counts[256 + line[i + 1]]++;
    counts[512 + line[i + 2]]++;
    counts[768 + line[i + 3]]++;
  }
  for (; i < to; i++) counts[line[i]]++;
}

INLINE void count_values(const uint8_t *line, int64_t count, uint32_t *counts, equal_bytes equal) {
  uint64_t marks[WORDS];
  mark(line, count, equal, marks);
  int64_t written = 0;
  for (int64_t start = next_run(marks, 0, count); start < count;) {
    int64_t end = end_of_run(marks, start + SHORTEST);
    int64_t shortest = (line[start] | line[start + 1]) == 0 ? SHORTEST_ZEROS : SHORTEST;
    if (end - start >= shortest) {
      count_literals(line, written, start, counts);
      for (int64_t rest = end - start; rest > 0; rest -= first_part(rest)) {
        counts[SCANMILL_RUN_COUNTS + first_part(rest)]++;
      }
      written = end;
    }
    start = next_run(marks, end, count);
  }
  count_literals(line, written, count, counts);
}

INLINE void put_entry(scanmill_bit_sink *sink, uint64_t entry) { put(sink, entry >> 8, entry & 255); }

INLINE void put_two(const uint8_t *bytes, const uint32_t *table, bool has_pairs, scanmill_bit_sink *sink) {
  const uint32_t *singles = table + SCANMILL_SINGLES;
  uint64_t pair = has_pairs ? table[bytes[0] | bytes[1] << 8] : SCANMILL_NO_PAIR;
  if (__builtin_expect((pair & 255) != SCANMILL_NO_PAIR, 1)) return put_entry(sink, pair);
  uint64_t first = singles[bytes[0]], second = singles[bytes[1]];
  put(sink, first >> 8 | (second >> 8) << (first & 63), (first & 255) + (second & 255));
}

INLINE void put_literals(
  const uint8_t *line, int64_t from, int64_t to, const uint32_t *table, bool has_pairs, scanmill_bit_sink *sink) {
  int64_t i = from;
  if (has_pairs && to - from <= 4) {
    /* Few literals between runs, by far the most frequent, are written without a branch on their number. */
    uint32_t word = load32(line + from), next = word >> 16;
    uint64_t first = table[to - from > 1 ? word & 65535 : SCANMILL_SINGLES + (word & 255)];
    uint64_t second = table[to - from > 3 ? next : SCANMILL_SINGLES + (next & 255)];
    first = to > from ? first : 0;
    second = to - from > 2 ? second : 0;
    uint64_t length = (first & 255) + (second & 255);
    if (length < SCANMILL_NO_PAIR) return put(sink, first >> 8 | (second >> 8) << (first & 63), length);
  }
  for (; has_pairs && i + 8 <= to; i += 8) {
    uint64_t word = load64(line + i);
    uint64_t e0 = table[word & 65535], e1 = table[word >> 16 & 65535], e2 = table[word >> 32 & 65535],
             e3 = table[word >> 48];
    uint64_t low_count = e0 + e1, high_count = e2 + e3, total = (low_count + high_count) & 255;
    if (total + sink->count < 64) {
      uint64_t low = e0 >> 8 | (e1 >> 8) << (e0 & 63), high = e2 >> 8 | (e3 >> 8) << (e2 & 63);
      put(sink, low | high << (low_count & 63), total);
    } else {
      for (int k = 0; k < 8; k += 2) put_two(line + i + k, table, true, sink);
    }
  }
  for (; i + 2 <= to; i += 2) put_two(line + i, table, has_pairs, sink);
  if (i < to) put_entry(sink, table[SCANMILL_SINGLES + line[i]]);
}

INLINE void write_values(
  const uint8_t *line, int64_t count, const uint32_t *table, bool has_pairs, scanmill_bit_sink *to,
  equal_bytes equal) {
  const uint32_t *singles = table + SCANMILL_SINGLES, *runs = table + SCANMILL_RUNS;
  scanmill_bit_sink sink = *to;
  uint64_t marks[WORDS];
  mark(line, count, equal, marks);
  int64_t written = 0;
  for (int64_t start = next_run(marks, 0, count); start < count;) {
    int64_t end = end_of_run(marks, start + SHORTEST), length = end - start;
    uint32_t of_two = (singles[line[start]] & 255) + (singles[line[start + 1]] & 255);
    if (length > LONGEST_WEIGHED || (runs[length] & 255) * 2 < of_two * length) {
      put_literals(line, written, start, table, has_pairs, &sink);
      for (int64_t rest = length; rest > 0; rest -= first_part(rest)) put_entry(&sink, runs[first_part(rest)]);
      written = end;
    }
    start = next_run(marks, end, count);
  }
  put_literals(line, written, count, table, has_pairs, &sink);
  *to = sink;
}

#if defined(__x86_64__) && defined(__clang__)
#define HAS_WIDE 1
#include <immintrin.h>
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2"))), apply_to = function)

INLINE uint64_t wide_equal(const uint8_t *a, const uint8_t *b) {
  uint64_t bits = 0;
  for (int k = 0; k < 64; k += 32) {
    __m256i left = _mm256_loadu_si256((const __m256i *)(a + k)), right = _mm256_loadu_si256((const __m256i *)(b + k));
    bits |= (uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(left, right)) << k;
  }
  return bits;
}

static void wide_count(const uint8_t *line, int64_t count, uint32_t *counts) {
  count_values(line, count, counts, wide_equal);
}

static void wide_write(
  const uint8_t *line, int64_t count, const uint32_t *table, bool has_pairs, scanmill_bit_sink *sink) {
  if (has_pairs) return write_values(line, count, table, true, sink, wide_equal);
  write_values(line, count, table, false, sink, wide_equal);
}

#pragma clang attribute pop
#else
#define HAS_WIDE 0
#endif

void scanmill_values_count(bool wide, const uint8_t *line, int64_t count, uint32_t *counts) {
#if HAS_WIDE
  if (wide) return wide_count(line, count, counts);
#endif
  count_values(line, count, counts, plain_equal);
}

void scanmill_values_write(
  bool wide, const uint8_t *line, int64_t count, const uint32_t *table, bool has_pairs, scanmill_bit_sink *sink) {
#if HAS_WIDE
  if (wide) return wide_write(line, count, table, has_pairs, sink);
#endif
  write_values(line, count, table, has_pairs, sink, plain_equal);
}
