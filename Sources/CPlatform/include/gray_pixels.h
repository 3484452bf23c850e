#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Loops over predicted RGB rows in which most pixels are gray (their three bytes are equal), for a
   deflate stream that repeats such pixels. They are in C because they need integer vectors of 16-bit
   lanes and choices that no compiler turns back into branches.

   `wide`: with the instructions that `scanmill_gray_has_wide` speaks of. The results are the same.
   Every array is read and written up to `SCANMILL_GRAY_SLACK` entries beyond `width`; rows of one array may follow
   each other if they are written in order. */

#define SCANMILL_GRAY_SLACK 64
/* Entries of the table of last places: pairs of gray pixels, then single ones. */
#define SCANMILL_GRAY_TABLE (16384 + 128)
/* Entries of the counts: three tables of literals by channel, steps in pixels, symbols of distances. */
#define SCANMILL_GRAY_STEP_COUNTS (3 * 256)
#define SCANMILL_GRAY_DISTANCE_COUNTS (SCANMILL_GRAY_STEP_COUNTS + 87)
#define SCANMILL_GRAY_COUNTS (SCANMILL_GRAY_DISTANCE_COUNTS + 30)
/* Entries of the tables to write with: 256 literals, then the steps 0 ... 86. */
#define SCANMILL_GRAY_CODES (256 + 87)
#define SCANMILL_GRAY_DISTANCES 32769

/* Whether this processor has AVX2, BMI1 and BMI2; false on others than x86-64. */
bool scanmill_gray_has_wide(void);

/* Forgets all places; for the begin of a stream. `last` has SCANMILL_GRAY_TABLE entries: the last places of
   pairs and of single pixels by their low 16 bits. What lies further back than the window of deflate is made
   just as old as that, often enough that no place is taken for a later one; `swept` is where that was done
   last. */
void scanmill_gray_forget(uint16_t *last, uint32_t *swept);

/* What may be repeated where in a row.

   `line`: 3 * `width` predicted bytes, `position` is the place of the first in the stream. Repetitions reach
   at most `reach` bytes back, counted from `position`. `distances` becomes for each pixel how far back the same
   pixel (or the same two and more) is, 0 for none, and `steps` how many pixels, up to 6, can be repeated from
   there; 1 for none. `scratch`: 8 * (width + SCANMILL_GRAY_SLACK) bytes, aligned for 16-bit values. */
void scanmill_gray_find(
  bool wide, const uint8_t *line, int64_t width, uint32_t position, uint32_t reach,
  uint16_t *last, uint32_t *swept, uint8_t *scratch, uint16_t *distances, uint8_t *steps);

/* Adds the tokens of a row to `counts`. */
void scanmill_gray_count(
  const uint8_t *line, const uint16_t *distances, const uint8_t *steps, int64_t width,
  uint32_t *counts);

/* Where the bits of a stream go: `bits` holds `count` (at most 7) that are not in memory yet. */
typedef struct {
  uint8_t *position;
  uint64_t bits;
  uint64_t count;
} scanmill_bit_sink;

/* Writes the tokens of a row. An entry of `codes` is the bits above eight bits of how many they are, one of
   `distance_codes` (extra bits included) the bits above six; the one of distance 0 is 46 of nothing. A single
   pixel is written as literals where these are not more bits. Up to 8 bytes are touched beyond the end. */
void scanmill_gray_emit(
  bool wide, const uint8_t *line, const uint16_t *distances, const uint8_t *steps, int64_t width,
  const uint32_t *codes, const uint32_t *distance_codes, scanmill_bit_sink *sink);

