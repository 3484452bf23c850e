#pragma once

#include <string.h>

#include "gray_pixels.h"

/* How the loops of the PNG encoder read and write several bytes at once. */

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#error "several bytes are read and written at once, lowest first"
#endif

#define INLINE static inline __attribute__((always_inline))

INLINE uint64_t load64(const void *from) {
  uint64_t value;
  memcpy(&value, from, sizeof value);
  return value;
}

INLINE uint32_t load32(const void *from) {
  uint32_t value;
  memcpy(&value, from, sizeof value);
  return value;
}

/* Moves the bytes of which all bits are known to memory; `length` is at most 56. */
INLINE void put(scanmill_bit_sink *sink, uint64_t bits, uint64_t length) {
  sink->bits |= bits << sink->count;
  uint64_t count = sink->count + length;
  memcpy(sink->position, &sink->bits, 8);
  sink->position += count >> 3;
  sink->bits >>= count & 56;
  sink->count = count & 7;
}
