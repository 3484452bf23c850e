#pragma once
#include <zlib.h>

/* A macro in zlib.h, which Swift does not import. */
static inline int scanmill_inflateInit2(z_streamp stream, int windowBits) {
  return inflateInit2(stream, windowBits);
}
static inline int scanmill_deflateInit2(z_streamp stream, int level, int windowBits, int memoryLevel, int strategy) {
  return deflateInit2(stream, level, Z_DEFLATED, windowBits, memoryLevel, strategy);
}
