/* The loops of gray_pixels.h, included once for any processor and once for those with wide vectors.
   NAME(x) makes the names of each. */

/* A byte per pixel: 1 ... 127 for a gray one between -63 and 63, 0 for any other. */
static void NAME(codes)(
  const uint8_t *restrict line, int64_t width, uint8_t *restrict bytes, uint8_t *restrict codes) {
  for (int64_t i = 0; i < 3 * width; i++) {
    uint8_t a = line[i], b = line[i + 1], c = line[i + 2];
    uint8_t v = (uint8_t)(a + 64);
    uint8_t other = (uint8_t)((a ^ b) | (a ^ c) | (v & 128));
    bytes[i] = other ? 0 : v;
  }
  for (int64_t x = 0; x < width; x++) codes[x] = bytes[3 * x];
  memset(codes + width, 0, SCANMILL_GRAY_SLACK);
}

/* Places before the window become those just before it. */
static void NAME(sweep)(uint16_t *restrict last, uint32_t position) {
  uint16_t oldest = (uint16_t)(position - (WINDOW + 1));
  for (int i = 0; i < SCANMILL_GRAY_TABLE; i++) {
    uint16_t place = last[i];
    last[i] = (uint16_t)(position - place) > WINDOW ? oldest : place;
  }
}

/* Where each pair and each single pixel was last. Nothing is compared: a place in the table of pairs
   belongs to one pair of codes. Those with the code 0 share places that have no meaning. */
static void NAME(exchange)(
  const uint8_t *restrict codes, int64_t width, uint32_t position, uint16_t *restrict last,
  uint32_t *swept, uint16_t *restrict of_pairs, uint16_t *restrict of_singles) {
  uint16_t *restrict pairs = last, *restrict singles = last + 16384;
  for (int64_t x = 0; x < width + EXCHANGED; x++) of_pairs[x] = codes[x] | codes[x + 1] << 7;
  for (int64_t begin = 0; begin < width; begin += PIECE) {
    int64_t end = begin + PIECE < width ? begin + PIECE : width;
    /* Nothing of this piece is further from what was swept than a place can say. */
    if (position + 3 * PIECE - *swept > WINDOW - 256) {
      NAME(sweep)(last, position);
      *swept = position;
    }
    for (int64_t x = begin; x < end; x += EXCHANGED) {
      Exchanged last_pairs, last_singles;
      for (int k = 0; k < EXCHANGED; k++, position += 3) {
        uint32_t pair = of_pairs[x + k], single = pair & 127;
        last_pairs[k] = pairs[pair];
        pairs[pair] = (uint16_t)position;
        last_singles[k] = singles[single];
        singles[single] = (uint16_t)position;
      }
      /* Several at once: the time of this loop is that of its stores. */
      memcpy(of_pairs + x, &last_pairs, sizeof last_pairs);
      memcpy(of_singles + x, &last_singles, sizeof last_singles);
    }
  }
}

/* Makes distances of places, chooses pairs before single pixels, and lengthens pairs at one distance that follow each
   other. `position` is the place of the first pixel. */
static void NAME(choose)(
  const uint8_t *restrict codes, int64_t width, uint32_t position, uint32_t reach, uint16_t *restrict distances,
  const uint16_t *restrict of_singles, uint16_t *restrict pairs, uint8_t *restrict steps) {
  /* Distances from 3 on; so many that `x - 3 < limit`. */
  uint16_t limit = (uint16_t)(reach > 3 ? (reach < WINDOW ? reach : WINDOW) - 3 : 0);
  uint16_t near = limit < FARTHEST_SINGLE ? limit : FARTHEST_SINGLE;
  Lanes place;
  for (int k = 0; k < LANES; k++) place[k] = (uint16_t)(position + 3 * k);
  for (int64_t x = 0; x < width; x += LANES, place += 3 * LANES) {
    Bytes first, second;
    Lanes pair, single;
    memcpy(&first, codes + x, sizeof first);
    memcpy(&second, codes + x + 1, sizeof second);
    memcpy(&pair, distances + x, sizeof pair);
    memcpy(&single, of_singles + x, sizeof single);
    pair = place - pair;
    single = place - single;
    Lanes a = __builtin_convertvector(first, Lanes), b = __builtin_convertvector(second, Lanes);
    Lanes has_pair = (Lanes)(pair - 3 < limit) & (Lanes)(a != 0) & (Lanes)(b != 0);
    Lanes has_single = (Lanes)(single - 3 < near) & (Lanes)(a != 0) & ~has_pair;
    pair &= has_pair;
    single = (single & has_single) | pair;
    memcpy(pairs + x, &pair, sizeof pair);
    memcpy(distances + x, &single, sizeof single);
  }
  memset(pairs + width, 0, SCANMILL_GRAY_SLACK);
  for (int64_t x = 0; x < width; x += LANES) {
    Lanes pair, next, step = {0};
    memcpy(&pair, pairs + x, sizeof pair);
    step += 1;
    Lanes same = (Lanes)(pair != 0);
    step -= same;
    for (int k = 1; k < 5; k++) {
      memcpy(&next, pairs + x + k, sizeof next);
      same &= (Lanes)(next == pair);
      step -= same;
    }
    Bytes narrow = __builtin_convertvector(step, Bytes);
    memcpy(steps + x, &narrow, sizeof narrow);
  }
}

static void NAME(find)(
  const uint8_t *line, int64_t width, uint32_t position, uint32_t reach, uint16_t *last,
  uint32_t *swept, uint8_t *scratch, uint16_t *distances, uint8_t *steps) {
  int64_t size = width + SCANMILL_GRAY_SLACK;
  uint8_t *codes = scratch, *bytes = scratch + size;
  uint16_t *of_singles = (uint16_t *)(scratch + 4 * size), *pairs = of_singles + size;
  NAME(codes)(line, width, bytes, codes);
  NAME(exchange)(codes, width, position, last, swept, distances, of_singles);
  NAME(choose)(codes, width, position, reach, distances, of_singles, pairs, steps);
}

/* Both ways of writing a pixel are made and one is selected: a branch could not be predicted. */
static void NAME(emit)(
  const uint8_t *line, const uint16_t *distances, const uint8_t *steps, int64_t width,
  const uint32_t *codes, const uint32_t *distance_codes, scanmill_bit_sink *sink) {
  uint64_t bits = sink->bits, count = sink->count;
  uint8_t *target = sink->position;
  for (int64_t x = 0; x < width;) {
    uint32_t distance = distances[x], step = steps[x];
    if (__builtin_expect(step == LONGEST_FOUND, 0)) {
      step = longer(distances, steps, x, width, distance, step);
    }
    const uint8_t *pixel = line + 3 * x;
    x += step;
    const uint8_t *a = entry(codes, pixel[0]), *b = entry(codes, pixel[1]), *c = entry(codes, pixel[2]);
    uint32_t two = length_of(a) + length_of(b), literal_count = two + length_of(c);
    uint64_t literals = code_of(a) | code_of(b) << length_of(a) | code_of(c) << two;
    uint64_t length = codes[256 + step], back = distance_codes[distance];
    uint64_t repetition = length >> 8 | (back >> 6) << (length & 63);
    uint32_t repetition_count = (uint8_t)length + (back & 63);
    /* Several pixels are always repeated, none at distance 0. */
    bool is_literal = __builtin_unpredictable(literal_count <= (step > 1 ? 0 : repetition_count));
    uint64_t value = is_literal ? literals : repetition;
    uint32_t value_count = is_literal ? literal_count : repetition_count;
    bits |= value << count;
    count += value_count;
    store64(target, bits);
    target += count >> 3;
    bits >>= count & 56;
    count &= 7;
  }
  sink->bits = bits;
  sink->count = count;
  sink->position = target;
}
