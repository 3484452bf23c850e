/* The loops of rendering.h, included once for any processor and once for those with wide vectors.
   NAME(x) makes the names of each, LANES pixels are computed together. */

typedef float Floats __attribute__((vector_size(4 * LANES)));
typedef int32_t Ints __attribute__((vector_size(4 * LANES)));
typedef uint32_t Words __attribute__((vector_size(4 * LANES)));
typedef double Doubles __attribute__((vector_size(8 * LANES)));

typedef struct {
  Floats x, y, z;
} Vectors;

INLINE Floats NAME(load)(const float *from) {
  Floats values;
  memcpy(&values, from, sizeof values);
  return values;
}

INLINE void NAME(store)(float *to, Floats values) { memcpy(to, &values, sizeof values); }

INLINE Floats NAME(all)(float value) { return (Floats){} + value; }

/* `a` where the mask is set, `b` elsewhere. */
INLINE Floats NAME(choose)(Ints mask, Floats a, Floats b) {
  return (Floats)(((Ints)a & mask) | ((Ints)b & ~mask));
}

/* Whether any bit is set. */
INLINE bool NAME(any)(Ints mask) {
  uint64_t parts[LANES / 2];
  memcpy(parts, &mask, sizeof parts);
  uint64_t bits = 0;
  for (int i = 0; i < LANES / 2; i++) bits |= parts[i];
  return bits != 0;
}

/* The largest integers not above numbers below 2²² in size. */
INLINE Floats NAME(floor)(Floats x) {
  Floats near = (x + SIGNED_BIAS) - SIGNED_BIAS;
  return near - (Floats)((Ints)(near > x) & (Ints)NAME(all)(1));
}

/* Integers from -2²² to 2²² - 1 as they are stored in 22 bits; what is above these bits is not defined. */
INLINE Words NAME(low_bits)(Floats x) { return (Words)(x + SIGNED_BIAS); }

/* The integers that numbers from 0 to 2²³ - 1 are nearest to. */
INLINE Words NAME(integers)(Floats x) { return (Words)(x + INTEGER_BIAS) & 0x7fffff; }

/* Numbers from 0 to 2²³ - 1. */
INLINE Floats NAME(numbers)(Words x) { return (Floats)(x | 0x4b000000) - INTEGER_BIAS; }

INLINE Floats NAME(dot)(Vectors a, Vectors b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

INLINE Vectors NAME(vectors)(scanmill_vector a) {
  return (Vectors){NAME(all)(a.x), NAME(all)(a.y), NAME(all)(a.z)};
}

INLINE Vectors NAME(difference)(Vectors a, Vectors b) {
  return (Vectors){a.x - b.x, a.y - b.y, a.z - b.z};
}

INLINE Floats NAME(depths)(const double *from) {
  Doubles depths;
  memcpy(&depths, from, sizeof depths);
  return __builtin_convertvector(depths, Floats);
}

/* MARK: Casting */

static void NAME(wall)(
  const double *restrict x, int64_t count, double plane, double step, double first, int32_t surface,
  double *restrict depths, int32_t *restrict surfaces) {
  for (int64_t i = 0; i < count; i++) {
    depths[i] = plane / (step * x[i] + first);
    surfaces[i] = surface;
  }
}

static void NAME(face)(
  const double *restrict x, int64_t count, double plane, double step, double first, int32_t surface,
  double *restrict depths, int32_t *restrict surfaces) {
  for (int64_t i = 0; i < count; i++) {
    double enters = plane * (1 / (step * x[i] + first)), before = depths[i];
    bool nearer = enters < before;
    depths[i] = nearer ? enters : before;
    surfaces[i] = nearer ? surface : surfaces[i];
  }
}

/* MARK: Shading */

/* The places in the texture and the brightness of pixels that show one surface. */
INLINE void NAME(light)(
  const scanmill_scene *scene, const scanmill_surface *surface, bool is_sphere, float y, int64_t first,
  int64_t count, const double *depth_row, ShadingPiece *piece) {
  scanmill_vector right = scene->right;
  float rest_x = scene->down.x * y + scene->forward.x;
  float rest_y = scene->down.y * y + scene->forward.y;
  float rest_z = scene->down.z * y + scene->forward.z;
  Vectors position = NAME(vectors)(scene->position), origin = NAME(vectors)(surface->origin);
  Vectors normal = NAME(vectors)(surface->normal);
  float density = surface->texels_per_meter;
  uint32_t begin = surface->texture * SCANMILL_RENDER_TEXELS;
  for (int64_t i = 0; i < count; i += LANES) {
    Floats x = NAME(load)(scene->directions + first + i);
    Floats depth = NAME(depths)(depth_row + first + i);
    Vectors direction = {right.x * x + rest_x, right.y * x + rest_y, right.z * x + rest_z};
    Floats length = __builtin_elementwise_sqrt(x * x + y * y + 1);
    Vectors point = {
      direction.x * depth + position.x, direction.y * depth + position.y, direction.z * depth + position.z};
    Vectors offset = NAME(difference)(point, origin);
    Floats u, v;
    if (is_sphere) {
      Floats inverse = 1 / __builtin_elementwise_sqrt(NAME(dot)(offset, offset));
      normal = (Vectors){offset.x * inverse, offset.y * inverse, offset.z * inverse};
      /* A map without visible poles: two coordinates of the normal, bent by the third. */
      u = normal.x + 0.3f * normal.z;
      v = normal.y - 0.3f * normal.z;
    } else {
      u = NAME(dot)(offset, NAME(vectors)(surface->along));
      v = NAME(dot)(offset, NAME(vectors)(surface->down));
    }
    /* How many texels a pixel covers: more if the surface is seen at an angle. */
    Floats cosine = -NAME(dot)(normal, direction) / length;
    cosine = NAME(choose)(cosine < 0.15f, NAME(all)(0.15f), cosine);
    Floats texels = depth * scene->pixel_size * density;
    Floats squared = texels * texels / cosine;
    /* Half of the exponent, rounded up: how often the texture is halved, so that a texel is about as large as a
       pixel. */
    Ints level = (((Ints)squared >> 23) - 126) >> 1;
    Ints last = (Ints){} + SCANMILL_RENDER_SIDE_BITS;
    level &= ~(level >> 31);
    level = (level & (level < last)) | (last & ~(level < last));
    /* 2^-level, the size and four times its square, set in the exponent bits. */
    Ints exponent = 127 - level;
    Floats scale = (Floats)(exponent << 23);
    Floats side = (Floats)((exponent + SCANMILL_RENDER_SIDE_BITS) << 23);
    Floats quarters = (Floats)((exponent + 2 * (SCANMILL_RENDER_SIDE_BITS + 1) - level) << 23);
    Words mask = NAME(integers)(side - 1);
    Floats across = u * density * scale, below = v * density * scale;
    Floats left = NAME(floor)(across), top = NAME(floor)(below);
    Words column = NAME(low_bits)(left) & mask, row = NAME(low_bits)(top) & mask;
    /* 512² + 256² + … before this size are every second bit above those of its own square. */
    Words start = SCANMILL_RENDER_TEXELS & ~NAME(integers)(quarters - 1);
    Words index = start + begin + NAME(integers)(NAME(numbers)(row) * side) + column;
    memcpy(piece->index + i, &index, sizeof index);
    NAME(store)(piece->right + i, across - left);
    NAME(store)(piece->down + i, below - top);

    Floats light = NAME(all)(AMBIENT);
    for (int64_t k = 0; k < scene->lamp_count; k++) {
      const scanmill_lamp *lamp = scene->lamps + k;
      Vectors to_lamp = NAME(difference)(NAME(vectors)(lamp->position), point);
      Floats facing = NAME(dot)(normal, to_lamp);
      Ints is_lit = facing > 0;
      if (!NAME(any)(is_lit)) continue;
      Floats distance = NAME(dot)(to_lamp, to_lamp) + 0.05f;
      Floats more = light + lamp->power * facing / (__builtin_elementwise_sqrt(distance) * distance);
      light = NAME(choose)(is_lit, more, light);
    }
    /* Shadows are lifted and highlights compressed, as by a camera's own processing. */
    NAME(store)(piece->exposed + i, 1.35f * light / (0.35f + light));
  }
}

/* The colors of pixels from the values of the texture between four texels each. */
static void NAME(mix)(
  const scanmill_surface *surface, int64_t count, int64_t stride, const double *depths,
  const ShadingPiece *piece, float *planes) {
  scanmill_vector dark = surface->dark, span = surface->span;
  for (int64_t i = 0; i < count; i += LANES) {
    Words texels;
    memcpy(&texels, piece->texels + i, sizeof texels);
    Floats right = NAME(load)(piece->right + i), down = NAME(load)(piece->down + i);
    Floats exposed = NAME(load)(piece->exposed + i);
    Floats p = NAME(numbers)(texels & 0xff), q = NAME(numbers)(texels >> 8 & 0xff);
    Floats r = NAME(numbers)(texels >> 16 & 0xff), s = NAME(numbers)(texels >> 24);
    Floats above = p + (q - p) * right, below = r + (s - r) * right;
    Floats mix = (above + (below - above) * down) * (1.0f / 255);
    NAME(store)(planes + i, (dark.x + span.x * mix) * exposed);
    NAME(store)(planes + stride + i, (dark.y + span.y * mix) * exposed);
    NAME(store)(planes + 2 * stride + i, (dark.z + span.z * mix) * exposed);
    NAME(store)(planes + 3 * stride + i, 1 / NAME(depths)(depths + i));
  }
}

static void NAME(light_face)(
  const scanmill_scene *scene, const scanmill_surface *surface, float y, int64_t first, int64_t count,
  const double *depths, ShadingPiece *piece) {
  NAME(light)(scene, surface, false, y, first, count, depths, piece);
}

static void NAME(light_ball)(
  const scanmill_scene *scene, const scanmill_surface *surface, float y, int64_t first, int64_t count,
  const double *depths, ShadingPiece *piece) {
  NAME(light)(scene, surface, true, y, first, count, depths, piece);
}

static void NAME(shade)(
  const scanmill_scene *scene, float y, const double *depths, const int32_t *surfaces, float *planes) {
  ShadingPiece piece;
  for (int64_t first = 0; first < scene->width;) {
    int32_t number = surfaces[first];
    int64_t end = first + 1, limit = first + PIECE < scene->width ? first + PIECE : scene->width;
    while (end < limit && surfaces[end] == number) end++;
    const scanmill_surface *surface = scene->surfaces + number;
    /* Three loops, so that each has its numbers in registers. What the last group computes beyond the end is
       overwritten, or follows the row. */
    int64_t count = end - first;
    if (surface->is_sphere) {
      NAME(light_ball)(scene, surface, y, first, count, depths, &piece);
    } else {
      NAME(light_face)(scene, surface, y, first, count, depths, &piece);
    }
    int64_t whole = (count + LANES - 1) / LANES * LANES;
    for (int64_t i = 0; i < whole; i++) piece.texels[i] = scene->texels[piece.index[i]];
    NAME(mix)(surface, count, scene->stride, depths + first, &piece, planes + first);
    first = end;
  }
}

/* MARK: Sensor */

INLINE uint64_t NAME(scramble)(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

/* Draws the noise of pixels. */
static void NAME(draw)(const float *noise, uint64_t state, int64_t count, SensorPiece *piece) {
  uint64_t mask = (1 << SCANMILL_RENDER_NOISE_BITS) - 1;
  for (int64_t i = 0; i < count; i++) {
    state += 0x9e3779b97f4a7c15;
    uint64_t bits = NAME(scramble)(state);
    piece->red[i] = noise[bits & mask];
    piece->green[i] = noise[bits >> SCANMILL_RENDER_NOISE_BITS & mask];
    piece->blue[i] = noise[bits >> 2 * SCANMILL_RENDER_NOISE_BITS & mask];
  }
}

/* Half of each number, toward zero. */
INLINE Ints NAME(half)(Ints x) { return (x + (Ints)((Words)x >> 31)) >> 1; }

INLINE int64_t NAME(within)(int64_t x, int64_t last) { return x < 0 ? 0 : x > last ? last : x; }

/* The means of pixels one by one. A path that leaves the picture stays at its border. */
static void NAME(apart)(
  const scanmill_sensor *sensor, int64_t column, int64_t row, Ints steps_u, Ints steps_v, Ints taps,
  Vectors *colors) {
  int64_t stride = sensor->stride;
  for (int lane = 0; lane < LANES; lane++) {
    int64_t count = taps[lane], u = column + lane, step_u = steps_u[lane], step_v = steps_v[lane];
    /* The pixel itself is there already, and beyond the row is nothing. */
    if (count <= 1 || u >= sensor->width) continue;
    int64_t at_u = (u << 16) + 32768 - step_u * (count - 1) / 2;
    int64_t at_v = (row << 16) + 32768 - step_v * (count - 1) / 2;
    float red = 0, green = 0, blue = 0;
    for (int64_t tap = 0; tap < count; tap++) {
      const float *place = sensor->picture
                           + NAME(within)(at_v >> 16, sensor->height - 1) * SCANMILL_RENDER_PLANES * stride
                           + NAME(within)(at_u >> 16, sensor->width - 1);
      red += place[0];
      green += place[stride];
      blue += place[2 * stride];
      at_u += step_u;
      at_v += step_v;
    }
    float inverse = 1 / (float)count;
    colors->x[lane] = red * inverse;
    colors->y[lane] = green * inverse;
    colors->z[lane] = blue * inverse;
  }
}

/* The means of pixels whose paths have the same places relative to them, all of them in the picture; false, and
   nothing, for others. */
INLINE bool NAME(together)(
  const scanmill_sensor *sensor, int64_t column, int64_t row, Ints step_u, Ints step_v, Ints taps,
  Vectors *colors) {
  int32_t count = taps[0];
  if (NAME(any)(taps ^ count)) return false;
  /* Relative to the pixels, in 1/65536 of a pixel. */
  Ints at_u = 32768 - NAME(half)(step_u * (count - 1));
  Ints at_v = 32768 - NAME(half)(step_v * (count - 1));
  int64_t first_u = at_u[0] >> 16, first_v = at_v[0] >> 16;
  int64_t last_u = (at_u[0] + step_u[0] * (count - 1)) >> 16, last_v = (at_v[0] + step_v[0] * (count - 1)) >> 16;
  if (column + first_u < 0 || column + last_u < 0 || row + first_v < 0 || row + last_v < 0
      || column + LANES - 1 + first_u >= sensor->width || column + LANES - 1 + last_u >= sensor->width
      || row + first_v >= sensor->height || row + last_v >= sensor->height) {
    return false;
  }
  int64_t stride = sensor->stride;
  const float *pixel = sensor->picture + row * SCANMILL_RENDER_PLANES * stride + column;
  Vectors sum = {};
  Ints differences = {};
  for (int32_t tap = 0; tap < count; tap++) {
    Ints u = at_u >> 16, v = at_v >> 16;
    differences |= (u ^ u[0]) | (v ^ v[0]);
    const float *place = pixel + (int64_t)v[0] * SCANMILL_RENDER_PLANES * stride + u[0];
    sum.x += NAME(load)(place);
    sum.y += NAME(load)(place + stride);
    sum.z += NAME(load)(place + 2 * stride);
    at_u += step_u;
    at_v += step_v;
  }
  if (NAME(any)(differences)) return false;
  float inverse = 1 / (float)count;
  *colors = (Vectors){sum.x * inverse, sum.y * inverse, sum.z * inverse};
  return true;
}

/* The means of the pixels from `column` on; `colors` are the pixels themselves. */
INLINE void NAME(blur)(
  const scanmill_sensor *sensor, int64_t column, int64_t row, float y, Floats inverse_depth, Vectors *colors) {
  scanmill_vector shift = sensor->shift, turn = sensor->turn;
  Floats x = NAME(load)(sensor->directions + column);
  /* A fixed point moves by -(shift + turn × p) in camera axes, which is divided by its depth. */
  Floats mx = -shift.x * inverse_depth - (turn.y - turn.z * y);
  Floats my = -shift.y * inverse_depth - (turn.z * x - turn.x);
  Floats mz = -shift.z * inverse_depth - (turn.x * y - turn.y * x);
  Floats du = sensor->fx * (mx - x * mz), dv = sensor->fy * (my - y * mz);
  Floats wide = (Floats)((Ints)du & 0x7fffffff), high = (Floats)((Ints)dv & 0x7fffffff);
  Floats length = NAME(choose)(high > wide, high, wide);
  Ints has_path = (Ints)(length > 1) & (Ints)(length < LONGEST);
  if (!NAME(any)(has_path)) return;
  /* One place, the pixel itself, where there is no path. */
  length = (Floats)((Ints)length & has_path);
  Floats counts = NAME(floor)(length) + 1;
  counts = NAME(choose)(counts > MOST_TAPS, NAME(all)(MOST_TAPS), counts);
  Floats inverse = 1 / counts;
  /* In 1/65536 of a pixel. */
  Floats along = du * inverse * 65536, down = dv * inverse * 65536;
  Ints step_u = __builtin_convertvector((Floats)((Ints)along & has_path), Ints);
  Ints step_v = __builtin_convertvector((Floats)((Ints)down & has_path), Ints);
  Ints taps = __builtin_convertvector(counts, Ints);
  if (NAME(together)(sensor, column, row, step_u, step_v, taps, colors)) return;
  NAME(apart)(sensor, column, row, step_u, step_v, taps, colors);
}

/* Rounded to nearest, 0 ... 255. */
INLINE Words NAME(bytes)(Floats x) {
  x = NAME(choose)(x > 255, NAME(all)(255), x);
  x = NAME(choose)(x < 0, NAME(all)(0), x);
  return NAME(integers)(x);
}

static void NAME(expose)(
  const scanmill_sensor *sensor, int64_t row, float y, uint64_t state, uint8_t *rgb) {
  SensorPiece piece;
  int64_t stride = sensor->stride;
  const float *planes = sensor->picture + row * SCANMILL_RENDER_PLANES * stride;
  for (int64_t first = 0; first < sensor->width; first += PIECE) {
    int64_t count = sensor->width - first < PIECE ? sensor->width - first : PIECE;
    int64_t whole = (count + LANES - 1) / LANES * LANES;
    NAME(draw)(sensor->noise, state + 0x9e3779b97f4a7c15 * (uint64_t)first, whole, &piece);
    for (int64_t i = 0; i < count; i += LANES) {
      const float *place = planes + first + i;
      Vectors colors = {NAME(load)(place), NAME(load)(place + stride), NAME(load)(place + 2 * stride)};
      if (sensor->is_blurred) {
        NAME(blur)(sensor, first + i, row, y, NAME(load)(place + 3 * stride), &colors);
      }
      Floats sum = colors.x + colors.y + colors.z;
      sum = NAME(choose)(sum < 0, NAME(all)(0), sum);
      Floats light = sum * (1.0f / 3);
      Floats deviation = __builtin_elementwise_sqrt(sensor->readout + sensor->shot * light);
      Words pixels = NAME(bytes)(colors.x * 255 + deviation * NAME(load)(piece.red + i))
                     | NAME(bytes)(colors.y * 255 + deviation * NAME(load)(piece.green + i)) << 8
                     | NAME(bytes)(colors.z * 255 + deviation * NAME(load)(piece.blue + i)) << 16;
      memcpy(piece.pixels + i, &pixels, sizeof pixels);
    }
    uint8_t *to = rgb + 3 * first;
    int64_t i = 0;
    /* Two pixels at a time; the two bytes that are written too many are overwritten. */
    for (; i + 2 < count; i += 2) {
      uint64_t pair = (uint64_t)piece.pixels[i + 1] << 24 | piece.pixels[i];
      memcpy(to + 3 * i, &pair, sizeof pair);
    }
    for (; i < count; i++) {
      for (int channel = 0; channel < 3; channel++) to[3 * i + channel] = (uint8_t)(piece.pixels[i] >> 8 * channel);
    }
  }
}
