#include "rendering.h"

#include <string.h>

/* Fused, two roundings would be one, and processors would give different bytes. */
#pragma STDC FP_CONTRACT OFF

#define INLINE static inline __attribute__((always_inline))

/* Pixels between two steps of a loop: what the steps hand over fits the first-level cache. */
#define PIECE 128
/* Most places on a path that are averaged. */
#define MOST_TAPS 6
/* Longer paths are not visible and not averaged, pixels. */
#define LONGEST 10000.0f
/* Light from all directions. */
#define AMBIENT 0.26f
/* 2²³: what is added to a number from 0 to 2²³ - 1 rounds it to nearest and leaves the integer in the lowest 23
   bits. */
#define INTEGER_BIAS 0x1p23f
/* The same for numbers from -2²² to 2²² - 1, whose lowest 22 bits are left. */
#define SIGNED_BIAS 0x1.8p23f

/* Types whose size differs between the two builds: vectors of LANES numbers. */
#define Floats NAME(Floats)
#define Ints NAME(Ints)
#define Words NAME(Words)
#define Doubles NAME(Doubles)
#define Vectors NAME(Vectors)

/* What the steps of shading hand over, pixel by pixel. */
typedef struct {
  uint32_t index[PIECE], texels[PIECE];
  float right[PIECE], down[PIECE], exposed[PIECE];
} ShadingPiece;

/* What the steps of the sensor hand over, pixel by pixel. */
typedef struct {
  float red[PIECE], green[PIECE], blue[PIECE];
  uint32_t pixels[PIECE];
} SensorPiece;

#define NAME(x) plain_##x
#define LANES 4
#include "rendering_loops.h"
#undef LANES
#undef NAME

#if defined(__x86_64__) && defined(__clang__)
#define HAS_WIDE 1
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#define NAME(x) wide_##x
#define LANES SCANMILL_RENDER_GROUP
#include "rendering_loops.h"
#undef LANES
#undef NAME
#pragma clang attribute pop
#else
#define HAS_WIDE 0
#endif

bool scanmill_render_has_wide(void) {
#if HAS_WIDE
  return __builtin_cpu_supports("avx2");
#else
  return false;
#endif
}

void scanmill_render_wall(
  bool wide, const double *x, int64_t count, double plane, double step, double first, int32_t surface,
  double *depths, int32_t *surfaces) {
#if HAS_WIDE
  if (wide) return wide_wall(x, count, plane, step, first, surface, depths, surfaces);
#endif
  plain_wall(x, count, plane, step, first, surface, depths, surfaces);
}

void scanmill_render_face(
  bool wide, const double *x, int64_t count, double plane, double step, double first, int32_t surface,
  double *depths, int32_t *surfaces) {
#if HAS_WIDE
  if (wide) return wide_face(x, count, plane, step, first, surface, depths, surfaces);
#endif
  plain_face(x, count, plane, step, first, surface, depths, surfaces);
}

void scanmill_render_shade(
  bool wide, const scanmill_scene *scene, float y, const double *depths, const int32_t *surfaces, float *planes) {
#if HAS_WIDE
  if (wide) return wide_shade(scene, y, depths, surfaces, planes);
#endif
  plain_shade(scene, y, depths, surfaces, planes);
}

void scanmill_render_expose(
  bool wide, const scanmill_sensor *sensor, int64_t row, float y, uint64_t state, uint8_t *rgb) {
#if HAS_WIDE
  if (wide) return wide_expose(sensor, row, y, state, rgb);
#endif
  plain_expose(sensor, row, y, state, rgb);
}
