#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "gray_pixels.h"

/* Loops that split predicted 16-bit values into literals and runs for a deflate stream. A run repeats the two bytes
   before it, from any byte after the third on, for at least six bytes, where that is shorter than literals. (Runs from
   four bytes on make files 0.2 % smaller and take an eighth more time.)

   Lines have at most SCANMILL_LONGEST_LINE bytes. Memory must be readable for 68 bytes from the last multiple of 64 on
   that is below their length.

   `wide`: with the instructions that `scanmill_gray_has_wide` speaks of. The results are the same. */

#define SCANMILL_LONGEST_LINE 65537

/* Entries of the counts: four tables of literals, so that equal neighbors do not wait for the same counter, then runs by
   length. */
enum { SCANMILL_RUN_COUNTS = 4 * 256 };

/* Entries of the table to write with, the bits above, their number in the low eight bits: pairs of literals, single
   ones, runs by length. The length SCANMILL_NO_PAIR marks a pair that does not fit an entry. Four of them still fit a
   byte, and one makes the sum large enough for the slow path. */
enum {
  SCANMILL_SINGLES = 65536,
  SCANMILL_RUNS = SCANMILL_SINGLES + 256,
  SCANMILL_NO_PAIR = 63
};

/* Adds the literals and runs of a line to `counts`. While no code is known, zeros are assumed to take a bit each, other
   values more. */
void scanmill_values_count(bool wide, const uint8_t *line, int64_t count, uint32_t *counts);

/* Writes a line, with pairs of literals where `has_pairs`. Up to 8 bytes are touched beyond the end. */
void scanmill_values_write(
  bool wide, const uint8_t *line, int64_t count, const uint32_t *table, bool has_pairs, scanmill_bit_sink *sink);
