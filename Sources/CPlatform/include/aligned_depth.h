#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Loops over pictures of 1/Z (1/mm, 0 = nothing) into which depth is drawn.

   `wide`: with the instructions that `scanmill_gray_has_wide` speaks of. The results are the same. */

/* Millimeters from 1/Z: floor(Z + 0.5); 0 for no value and for depths below 1 or above 65,535. Z is raised by 2^-21 of its
   value so that exact halves round up in spite of the rounding of 1/Z. */
void scanmill_millimeters(bool wide, const float *inverse_depths, int64_t count, uint16_t *millimeters);

/* Rows of a picture. */
typedef struct {
  /* Column 0 of the first row, and how many floats further the next row lies. */
  float *origin;
  int64_t stride, width;
  /* Numbers of the first row and of the one behind the last. */
  int64_t first_row, end_row;
} scanmill_target;

/* Raises the pixels that four quads cover to their 1/Z.

   `quads` holds the four lane by lane: six functions of the pixel, each as its values at the first pixel of the quad's
   box, what one pixel to the right adds and what one pixel down adds. The first four are the edges, positive inside, of
   which pixels up to 0.0007 outside are covered too; then 1/Z as a plane, and what is added to it where it is positive,
   times the number that follows. `boxes`: the first column and line, the last ones and what follows the point.

   Pixels are counted from the box's first one even if it is clipped, and lines above the target are stepped through, so
   that every target gets the same numbers. Columns are counted in fours: up to three pixels right of a box may be covered.
   Up to seven floats right of it are read, and written unchanged. */
void scanmill_draw_quads(bool wide, const float *quads, const float *boxes, const scanmill_target *target);
