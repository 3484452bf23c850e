#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The loops over the pixels of a rendered row: casting, shading, and what the sensor of a camera adds.

   They are in C because one source gives two builds of each: one for any processor and one for those with
   vectors of eight floats, which is chosen at run time. `wide` chooses it; it must be false where
   `scanmill_render_has_wide` is. The results are the same to the last bit: every number is computed alone, in
   the order of the source, and no multiplication is fused with an addition.

   A picture is stored row by row as four planes: a row is `stride` numbers of red, then as many of green, of
   blue and of inverse depth in 1/m. Red, green and blue are linear in bytes of the picture: 1 is white.
   Pixels are computed in groups of SCANMILL_RENDER_GROUP: what is said to hold `width + SCANMILL_RENDER_GROUP`
   entries is read or written up to there, and what is computed beyond `width` is not used. */

/* Pixels that are computed together. */
#define SCANMILL_RENDER_GROUP 8
/* Planes of a picture. */
#define SCANMILL_RENDER_PLANES 4
/* Random bits that choose an entry of the table of noise. */
#define SCANMILL_RENDER_NOISE_BITS 12
/* A texture's side in texels is 2 to this power. */
#define SCANMILL_RENDER_SIDE_BITS 9
/* Texels of one texture in all its sizes: 512² + 256² + … + 1. */
#define SCANMILL_RENDER_TEXELS 349525

typedef struct {
  float x, y, z;
} scanmill_vector;

typedef struct {
  /* World axes, meters. */
  scanmill_vector position;
  /* Brightness at a distance of one meter. */
  float power;
} scanmill_lamp;

/* A face or a ball, in world axes and meters. */
typedef struct {
  bool is_sphere;
  /* The number of the texture. */
  uint32_t texture;
  float texels_per_meter;
  /* A point of the face, or the center of the ball. */
  scanmill_vector origin;
  /* Unit vectors; not used for a ball. */
  scanmill_vector along, down, normal;
  /* Red, green and blue where the texture is 0, and what 1 adds. */
  scanmill_vector dark, span;
} scanmill_surface;

/* What all pixels of a picture share. The pointers must outlive the calls. */
typedef struct {
  int64_t width;
  /* Numbers of a row of one plane, at least `width + SCANMILL_RENDER_GROUP`. */
  int64_t stride;
  /* Position of the camera in world axes, and the axes of the camera in them. */
  scanmill_vector position, right, down, forward;
  /* Size of a pixel in meters at a distance of one meter. */
  float pixel_size;
  /* x of the direction of every column; `width + SCANMILL_RENDER_GROUP`. */
  const float *directions;
  const scanmill_surface *surfaces;
  const scanmill_lamp *lamps;
  int64_t lamp_count;
  /* SCANMILL_RENDER_TEXELS of each texture: the texel in the lowest byte, then those to the right, below, and
     below on the right. */
  const uint32_t *texels;
} scanmill_scene;

/* What a camera adds to all pixels of a picture. The pointers must outlive the calls. */
typedef struct {
  int64_t width, height;
  /* Numbers of a row of one plane, at least `width + SCANMILL_RENDER_GROUP`. */
  int64_t stride;
  /* Whether the camera moves while the shutter is open. */
  bool is_blurred;
  /* Focal lengths in pixels. */
  float fx, fy;
  /* Motion of the camera during the exposure, camera axes: meters and radians. */
  scanmill_vector shift, turn;
  /* Variance of the noise in steps of 8 bits: `readout + shot · brightness`. */
  float readout, shot;
  /* 2^SCANMILL_RENDER_NOISE_BITS numbers of mean 0 and deviation 1. */
  const float *noise;
  /* x of the direction of every column; `width + SCANMILL_RENDER_GROUP`. */
  const float *directions;
  /* `height` rows. */
  const float *picture;
} scanmill_sensor;

/* Whether this processor has AVX2; false on others than x86-64. */
bool scanmill_render_has_wide(void);

/* Pixels that all show one wall: depths `plane / (step · x + first)` for `count` numbers `x`. */
void scanmill_render_wall(
  bool wide, const double *x, int64_t count, double plane, double step, double first, int32_t surface,
  double *depths, int32_t *surfaces);

/* Pixels that all show one face unless something nearer hides it: `plane · (1 / (step · x + first))`. */
void scanmill_render_face(
  bool wide, const double *x, int64_t count, double plane, double step, double first, int32_t surface,
  double *depths, int32_t *surfaces);

/* Shades a row. `y` is that of its direction; `depths` are `width + SCANMILL_RENDER_GROUP` numbers above 0,
   `surfaces` `width` indices into those of the scene, of which neighbors that are equal are shaded together.
   `planes`: SCANMILL_RENDER_PLANES times `stride` numbers. */
void scanmill_render_shade(
  bool wide, const scanmill_scene *scene, float y, const double *depths, const int32_t *surfaces, float *planes);

/* Writes 3 · `width` bytes of row `row`: the means along the path of each pixel's point during the exposure,
   noise, and rounding. `y` is that of the row's direction; `state` is that of a SplitMix64 generator, whose
   number for a pixel is the one after as many calls as pixels are left of it. */
void scanmill_render_expose(
  bool wide, const scanmill_sensor *sensor, int64_t row, float y, uint64_t state, uint8_t *rgb);
