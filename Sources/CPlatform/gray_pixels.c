#include "gray_pixels.h"

#include "bits.h"

/* The window of deflate. */
#define WINDOW 32768
/* A repetition of one pixel from further away takes as many bits as three literals. */
#define FARTHEST_SINGLE 4096
/* Pixels to process between two removals of the oldest positions. */
#define PIECE 4096
/* Pixels that `choose` can see at once. */
#define LONGEST_FOUND 6
#define LANES 16
typedef uint16_t Lanes __attribute__((vector_size(2 * LANES)));
typedef uint8_t Bytes __attribute__((vector_size(LANES)));
/* Places that are exchanged before they are stored. */
#define EXCHANGED 8
typedef uint16_t Exchanged __attribute__((vector_size(2 * EXCHANGED)));

INLINE void store64(void *to, uint64_t value) { memcpy(to, &value, sizeof value); }

/* An entry of the codes of literals, whose parts are loaded apart: at most 15 bits above their number. */
INLINE const uint8_t *entry(const uint32_t *codes, uint8_t literal) { return (const uint8_t *)(codes + literal); }
INLINE uint32_t length_of(const uint8_t *entry) { return entry[0]; }
INLINE uint64_t code_of(const uint8_t *entry) {
  uint16_t code;
  memcpy(&code, entry + 1, sizeof code);
  return code;
}

/* Repetitions of pairs at the same distance that follow each other are one, up to 86 pixels (258 bytes). */
INLINE uint32_t longer(
  const uint16_t *distances, const uint8_t *steps, int64_t x, int64_t width, uint32_t distance,
  uint32_t step) {
  while (step <= 86 - LONGEST_FOUND && x + step < width && distances[x + step] == distance
         && steps[x + step] > 1) {
    step += steps[x + step];
  }
  return step;
}

#define NAME(x) plain_##x
#include "gray_loops.h"
#undef NAME

#if defined(__x86_64__) && defined(__clang__)
#define HAS_WIDE 1
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2"))), apply_to = function)
#define NAME(x) wide_##x
#include "gray_loops.h"
#undef NAME
#pragma clang attribute pop
#else
#define HAS_WIDE 0
#endif

bool scanmill_gray_has_wide(void) {
#if HAS_WIDE
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi")
         && __builtin_cpu_supports("bmi2");
#else
  return false;
#endif
}

void scanmill_gray_forget(uint16_t *last, uint32_t *swept) {
  for (int i = 0; i < SCANMILL_GRAY_TABLE; i++) last[i] = (uint16_t)(0 - (WINDOW + 1));
  *swept = 0;
}

void scanmill_gray_find(
  bool wide, const uint8_t *line, int64_t width, uint32_t position, uint32_t reach,
  uint16_t *last, uint32_t *swept, uint8_t *scratch, uint16_t *distances, uint8_t *steps) {
#if HAS_WIDE
  if (wide) return wide_find(line, width, position, reach, last, swept, scratch, distances, steps);
#endif
  plain_find(line, width, position, reach, last, swept, scratch, distances, steps);
}

void scanmill_gray_count(
  const uint8_t *line, const uint16_t *distances, const uint8_t *steps, int64_t width,
  uint32_t *counts) {
  for (int64_t x = 0; x < width;) {
    uint32_t distance = distances[x], step = steps[x];
    if (distance > 0) {
      if (step == LONGEST_FOUND) step = longer(distances, steps, x, width, distance, step);
      counts[SCANMILL_GRAY_STEP_COUNTS + step]++;
      /* RFC 1951, section 3.2.5, for distances from 3: two symbols for each power of two. The exponent and
         the highest bit below it, as a floating point number has them. */
      float value = (float)(int32_t)(distance - 1);
      counts[SCANMILL_GRAY_DISTANCE_COUNTS + (load32(&value) >> 22) - 254]++;
    } else {
      uint32_t pixel = load32(line + 3 * x);
      counts[pixel & 255]++;
      counts[256 + (pixel >> 8 & 255)]++;
      counts[512 + (pixel >> 16 & 255)]++;
    }
    x += step;
  }
}

void scanmill_gray_emit(
  bool wide, const uint8_t *line, const uint16_t *distances, const uint8_t *steps, int64_t width,
  const uint32_t *codes, const uint32_t *distance_codes, scanmill_bit_sink *sink) {
#if HAS_WIDE
  if (wide) return wide_emit(line, distances, steps, width, codes, distance_codes, sink);
#endif
  plain_emit(line, distances, steps, width, codes, distance_codes, sink);
}
