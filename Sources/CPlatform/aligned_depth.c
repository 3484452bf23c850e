#include "aligned_depth.h"

#include "bits.h"

/* Every sum and product is rounded by itself, so that all processors give the same values. */
#pragma STDC FP_CONTRACT OFF

#define LANES 8

typedef float lanes __attribute__((ext_vector_type(LANES)));
typedef int32_t lane_bits __attribute__((ext_vector_type(LANES)));

INLINE void millimeters(const float *restrict inverse_depths, int64_t count, uint16_t *restrict output) {
  for (int64_t i = 0; i < count; i++) {
    float z = 1 / inverse_depths[i] * (1 + 0x1p-21f) + 0.5f;
    output[i] = (uint16_t)(int32_t)(z < 65536 ? z : 0);
  }
}

INLINE void draw_quad(
  const float *one, float *pixels, int64_t stride, int64_t columns, int64_t lines, int64_t hidden_columns,
  int64_t hidden_lines) {
  enum { edges = 4, plane = 4, beyond = 5, functions = 6 };
  const lanes none = 0;
  const lane_bits numbers = {0, 1, 2, 3, 4, 5, 6, 7};
  lanes bend = one[12 * functions];
  const lane_bits sign = (lane_bits)-none;
  columns = (columns + 3) / 4 * 4;
  for (int64_t x = 0; x < columns; x += LANES) {
    lanes at = __builtin_convertvector(numbers, lanes) + (float)(hidden_columns + x);
    lanes values[functions], down[functions];
    for (int k = 0; k < functions; k++) {
      float first = one[12 * k], right = one[12 * k + 4], below = one[12 * k + 8];
      if (k < edges) first += 0.0005f * (__builtin_fabsf(right) + __builtin_fabsf(below));
      values[k] = first + right * at;
      down[k] = below;
    }
    values[0] = numbers < (int32_t)(columns - x) ? values[0] : -__builtin_inff();
    for (int64_t line = 0; line < hidden_lines; line++) {
      for (int k = 0; k < functions; k++) values[k] += down[k];
    }
    float *row = pixels + x;
    for (int64_t line = 0; line < lines; line++, row += stride) {
      lane_bits signs = (lane_bits)values[0] | (lane_bits)values[1] | (lane_bits)values[2] | (lane_bits)values[3];
      lanes value = values[plane] + bend * (lanes)((lane_bits)values[beyond] & (values[beyond] > none));
      /* No value is below 0, so that a negative one changes nothing. */
      lanes covered = (lanes)((lane_bits)value | (signs & sign)), old;
      memcpy(&old, row, sizeof old);
      lanes raised = covered > old ? covered : old;
      memcpy(row, &raised, sizeof raised);
      for (int k = 0; k < functions; k++) values[k] += down[k];
    }
  }
}

INLINE int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
INLINE int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

INLINE void draw_quads(const float *quads, const float *boxes, const scanmill_target *target) {
  for (int lane = 0; lane < 4; lane++) {
    int64_t column = (int64_t)boxes[lane], line = (int64_t)boxes[4 + lane];
    int64_t left = most(column, 0), end = least((int64_t)boxes[8 + lane] + 1, target->width);
    int64_t top = most(line, target->first_row), bottom = least((int64_t)boxes[12 + lane] + 1, target->end_row);
    if (left >= end || top >= bottom) continue;
    float *pixels = target->origin + (top - target->first_row) * target->stride + left;
    draw_quad(quads + lane, pixels, target->stride, end - left, bottom - top, left - column, top - line);
  }
}

#if defined(__x86_64__) && defined(__clang__)
#define HAS_WIDE 1
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2"))), apply_to = function)

static void wide_millimeters(const float *inverse_depths, int64_t count, uint16_t *output) {
  millimeters(inverse_depths, count, output);
}

static void wide_draw_quads(const float *quads, const float *boxes, const scanmill_target *target) {
  draw_quads(quads, boxes, target);
}

#pragma clang attribute pop
#else
#define HAS_WIDE 0
#endif

void scanmill_millimeters(bool wide, const float *inverse_depths, int64_t count, uint16_t *output) {
#if HAS_WIDE
  if (wide) return wide_millimeters(inverse_depths, count, output);
#endif
  millimeters(inverse_depths, count, output);
}

void scanmill_draw_quads(bool wide, const float *quads, const float *boxes, const scanmill_target *target) {
#if HAS_WIDE
  if (wide) return wide_draw_quads(quads, boxes, target);
#endif
  draw_quads(quads, boxes, target);
}
