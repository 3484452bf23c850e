#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "gray_pixels.h"

/* Loops over predicted bytes that are written one by one, for a deflate stream without matches but runs of zeros.

   `wide`: with the instructions that `scanmill_gray_has_wide` speaks of. The results are the same. */

/* A code that vectors can look up: bytes near 0 have codes of their own, all others share one length. */
typedef struct {
  /* Codes of the bytes from minus `near` on, at most 8 bits, the first bit lowest, and how many bits they have. */
  uint8_t bits[64], lengths[64];
  /* How many bytes below 0, and as many from 0 on, have these codes: at most 32. */
  uint32_t near;
  /* Bits of every other byte, 9 ... 14. These codes are the last of their length in the order of bytes, so that a code
     is ones and then the byte plus `near`. */
  uint32_t longest;
  /* 258 times the byte before, with the code of distance 1. */
  uint32_t run_bits, run_length;
} scanmill_literal_code;

/* Subtracts from each byte what Paeth's prediction makes of the bytes `pixel_bytes` to the left, above, and above to the
   left, which must be readable. */
void scanmill_paeth(
  bool wide, const uint8_t *current, const uint8_t *above, int64_t pixel_bytes, int64_t count,
  uint8_t *residual);

/* Estimated bits of at most 128 predicted bytes of 16-bit values: one for 0, three for ±1, one more for each doubling;
   none inside a run of equal values. Reads four bytes before them. */
int64_t scanmill_value_bits(bool wide, const uint8_t *bytes, int64_t count);

/* Adds the bytes to four tables of 256 counts, in turns. */
void scanmill_literals_count(const uint8_t *bytes, int64_t count, uint32_t *counts);

/* Writes the bytes. Up to 8 bytes are touched beyond the end. */
void scanmill_literals_write(
  bool wide, const uint8_t *bytes, int64_t count, const scanmill_literal_code *code,
  scanmill_bit_sink *sink);
