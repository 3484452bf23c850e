#include "jpeg_blocks.h"

#include <stdlib.h>
#include <string.h>

#include "bits.h"

#if defined(__x86_64__) && defined(__clang__)

#include <immintrin.h>

#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2,lzcnt"))), apply_to = function)

/* The codes of a number by 16 x zeros before it + its length: shifted by that length, and the sum of both lengths. */
typedef struct {
  uint32_t bits[256];
  uint8_t counts[256];
} Codes;

struct scanmill_jpeg_coding {
  /* Quantization of luma and chroma, row by row, as three factors: see `quantize`. */
  uint16_t corrections[2][64], reciprocals[2][64], scales[2][64];
  Codes dc[2], ac[2];
};

typedef __m256i Lanes;

/* The place of each coefficient of a block, in the order of the file. */
static const uint8_t zigzag[64] = {
  0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
  41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
  30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

/* Sixteen bytes of the zigzag order by the pair of rows that has them: offsets in the pair, 128 for those of others. */
typedef struct {
  uint8_t pairs[4][4][16];
} Order;

INLINE Lanes both(const void *sixteen) { return _mm256_broadcastsi128_si256(_mm_loadu_si128(sixteen)); }

INLINE Lanes loaded(const uint8_t *low, const uint8_t *high) {
  return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const void *)low)),
                                 _mm_loadu_si128((const void *)high), 1);
}

/* The same two factors for every pair of 16-bit numbers. */
INLINE Lanes factors(int16_t first, int16_t second) {
  return _mm256_set1_epi32((int32_t)((uint32_t)(uint16_t)first | (uint32_t)(uint16_t)second << 16));
}

INLINE Lanes weighted(Lanes rg, Lanes bg, int16_t r, int16_t g, int16_t b, int16_t g2) {
  Lanes sum = _mm256_add_epi32(_mm256_madd_epi16(rg, factors(r, g)), _mm256_madd_epi16(bg, factors(b, g2)));
  return _mm256_srai_epi32(_mm256_add_epi32(sum, _mm256_set1_epi32(32768)), 16);
}

/* Luma of sixteen pixels, and chroma times -1. */
INLINE void convert(const uint8_t *rgb, Lanes *y, Lanes *u, Lanes *v) {
  static const int8_t red_green_bytes[16] = {0, -1, 1, -1, 3, -1, 4, -1, 6, -1, 7, -1, 9, -1, 10, -1};
  static const int8_t blue_green_bytes[16] = {2, -1, 1, -1, 5, -1, 4, -1, 8, -1, 7, -1, 11, -1, 10, -1};
  const Lanes red_green = both(red_green_bytes), blue_green = both(blue_green_bytes);
  /* The second four pixels begin at the fourth byte of what is loaded. */
  const Lanes four = _mm256_set1_epi16(4);
  Lanes first = loaded(rgb, rgb + 24), last = loaded(rgb + 8, rgb + 32);
  Lanes rg = _mm256_shuffle_epi8(first, red_green), bg = _mm256_shuffle_epi8(first, blue_green);
  Lanes rg2 = _mm256_shuffle_epi8(last, _mm256_add_epi16(red_green, four));
  Lanes bg2 = _mm256_shuffle_epi8(last, _mm256_add_epi16(blue_green, four));
  *y = _mm256_packs_epi32(
    weighted(rg, bg, 19595, 22086, 7471, 16384), weighted(rg2, bg2, 19595, 22086, 7471, 16384));
  *u = _mm256_packs_epi32(
    weighted(rg, bg, 11059, 21709, -32768, 0), weighted(rg2, bg2, 11059, 21709, -32768, 0));
  *v = _mm256_packs_epi32(
    weighted(rg, bg, -32768, 27439, 5329, 0), weighted(rg2, bg2, -32768, 27439, 5329, 0));
}

/* Bytes of a row that are asked for before they are needed: many rows are read at once. */
#define AHEAD 256

/* Sixteen rows of luma, and eight of both chromas beside each other. */
INLINE void convert_square(const uint8_t *rgb, int64_t stride, Lanes *luma, Lanes *chroma) {
  /* Gray is 128. */
  const Lanes rounding = _mm256_set1_epi32((4 * 128 + 1) | (4 * 128 + 2) << 16);
  for (int row = 0; row < 8; row++, rgb += 2 * stride) {
    _mm_prefetch((const char *)rgb + AHEAD, _MM_HINT_T0);
    _mm_prefetch((const char *)rgb + stride + AHEAD, _MM_HINT_T0);
    Lanes u, v, u2, v2;
    convert(rgb, luma + 2 * row, &u, &v);
    convert(rgb + stride, luma + 2 * row + 1, &u2, &v2);
    Lanes sums = _mm256_hadd_epi16(_mm256_add_epi16(u, u2), _mm256_add_epi16(v, v2));
    Lanes means = _mm256_srai_epi16(_mm256_sub_epi16(rounding, sums), 2);
    chroma[row] = _mm256_permute4x64_epi64(means, 0xD8);
  }
}

/* Exchanges rows and columns of both blocks. */
INLINE void transpose(Lanes *v) {
  Lanes a[8], b[8];
  for (int i = 0; i < 4; i++) {
    a[2 * i] = _mm256_unpacklo_epi16(v[2 * i], v[2 * i + 1]);
    a[2 * i + 1] = _mm256_unpackhi_epi16(v[2 * i], v[2 * i + 1]);
  }
  for (int i = 0; i < 2; i++) {
    for (int k = 0; k < 2; k++) {
      b[4 * i + 2 * k] = _mm256_unpacklo_epi32(a[4 * i + k], a[4 * i + 2 + k]);
      b[4 * i + 2 * k + 1] = _mm256_unpackhi_epi32(a[4 * i + k], a[4 * i + 2 + k]);
    }
  }
  for (int i = 0; i < 4; i++) {
    v[2 * i] = _mm256_unpacklo_epi64(b[i], b[4 + i]);
    v[2 * i + 1] = _mm256_unpackhi_epi64(b[i], b[4 + i]);
  }
}

/* a × first + b × second + c × third + d × fourth, rounded and shifted; the pairs are interleaved. */
INLINE Lanes product(const Lanes *ab, const Lanes *cd, Lanes of_ab, Lanes of_cd, int shift) {
  Lanes half = _mm256_set1_epi32(1 << (shift - 1)), parts[2];
  for (int i = 0; i < 2; i++) {
    Lanes sum = _mm256_madd_epi16(ab[i], of_ab);
    if (cd) sum = _mm256_add_epi32(sum, _mm256_madd_epi16(cd[i], of_cd));
    parts[i] = _mm256_srai_epi32(_mm256_add_epi32(sum, half), shift);
  }
  return _mm256_packs_epi32(parts[0], parts[1]);
}

/* One direction of the accurate transform of libjpeg (jfdctint.c), its products added up. Results of the first one have
   two more bits. */
INLINE void transform(Lanes *v, bool is_first) {
  int shift = is_first ? 11 : 15;
  Lanes s0 = _mm256_add_epi16(v[0], v[7]), d0 = _mm256_sub_epi16(v[0], v[7]);
  Lanes s1 = _mm256_add_epi16(v[1], v[6]), d1 = _mm256_sub_epi16(v[1], v[6]);
  Lanes s2 = _mm256_add_epi16(v[2], v[5]), d2 = _mm256_sub_epi16(v[2], v[5]);
  Lanes s3 = _mm256_add_epi16(v[3], v[4]), d3 = _mm256_sub_epi16(v[3], v[4]);
  Lanes outer = _mm256_add_epi16(s0, s3), inner = _mm256_add_epi16(s1, s2);
  Lanes outer_rest = _mm256_sub_epi16(s0, s3), inner_rest = _mm256_sub_epi16(s1, s2);
  Lanes sum = _mm256_add_epi16(outer, inner), rest = _mm256_sub_epi16(outer, inner);
  if (is_first) {
    /* Black is -128. */
    v[0] = _mm256_slli_epi16(_mm256_sub_epi16(sum, _mm256_set1_epi16(8 * 128)), 2);
    v[4] = _mm256_slli_epi16(rest, 2);
  } else {
    Lanes half = _mm256_set1_epi16(2);
    v[0] = _mm256_srai_epi16(_mm256_add_epi16(sum, half), 2);
    v[4] = _mm256_srai_epi16(_mm256_add_epi16(rest, half), 2);
  }
  Lanes even[2] = {
    _mm256_unpacklo_epi16(outer_rest, inner_rest), _mm256_unpackhi_epi16(outer_rest, inner_rest)};
  v[2] = product(even, NULL, factors(10703, 4433), even[0], shift);
  v[6] = product(even, NULL, factors(4433, -10704), even[0], shift);
  Lanes far[2] = {_mm256_unpacklo_epi16(d3, d0), _mm256_unpackhi_epi16(d3, d0)};
  Lanes near[2] = {_mm256_unpacklo_epi16(d2, d1), _mm256_unpackhi_epi16(d2, d1)};
  v[1] = product(far, near, factors(2260, 11363), factors(6437, 9633), shift);
  v[3] = product(far, near, factors(-6436, 9633), factors(-11362, -2259), shift);
  v[5] = product(far, near, factors(9633, 6437), factors(2261, -11362), shift);
  v[7] = product(far, near, factors(-11363, 2260), factors(9633, -6436), shift);
}

/* What the file states of the coefficients of two blocks. */
typedef struct {
  /* Without sign, and as the file has them: those below zero inverted. */
  uint16_t sizes[2][64], bits[2][64];
  int32_t dc[2];
  /* Which but the first are not zero, in zigzag order. */
  uint64_t present[2];
} Coefficients;

INLINE void store_blocks(uint16_t blocks[2][64], int row, Lanes v) {
  _mm_storeu_si128((void *)(blocks[0] + 8 * row), _mm256_castsi256_si128(v));
  _mm_storeu_si128((void *)(blocks[1] + 8 * row), _mm256_extracti128_si256(v, 1));
}

/* Divides by 8 × quantization and rounds, by two products; and finds what is left. */
INLINE void quantize(
  const scanmill_jpeg_coding *coding, int table, const Order *order, const Lanes *v, Coefficients *c) {
  Lanes sizes[8];
  for (int row = 0; row < 8; row++) {
    Lanes size = _mm256_add_epi16(_mm256_abs_epi16(v[row]), both(coding->corrections[table] + 8 * row));
    size = _mm256_mulhi_epu16(size, both(coding->reciprocals[table] + 8 * row));
    size = _mm256_mulhi_epu16(size, both(coding->scales[table] + 8 * row));
    sizes[row] = size;
    store_blocks(c->sizes, row, size);
    store_blocks(c->bits, row, _mm256_xor_si256(size, _mm256_srai_epi16(v[row], 15)));
  }
  Lanes pairs[4];
  for (int i = 0; i < 4; i++) pairs[i] = _mm256_packs_epi16(sizes[2 * i], sizes[2 * i + 1]);
  uint64_t present[2] = {0, 0};
  for (int k = 0; k < 4; k++) {
    Lanes piece = _mm256_setzero_si256();
    for (int i = 0; i < 4; i++) {
      /* The first of the zigzag order are not in the last rows, and the last not in the first. */
      if ((k == 0 && i == 3) || (k == 3 && i == 0)) continue;
      piece = _mm256_or_si256(piece, _mm256_shuffle_epi8(pairs[i], both(order->pairs[k][i])));
    }
    uint32_t absent = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(piece, _mm256_setzero_si256()));
    present[0] |= (uint64_t)(~absent & 0xFFFF) << 16 * k;
    present[1] |= (uint64_t)(~absent >> 16) << 16 * k;
  }
  for (int i = 0; i < 2; i++) {
    c->dc[i] = (int16_t)(c->bits[i][0] + (c->bits[i][0] >> 15));
    c->present[i] = present[i] >> 1;
  }
}

INLINE void transform_blocks(
  const scanmill_jpeg_coding *coding, int table, const Order *order, Lanes *v, Coefficients *c) {
  transpose(v);
  transform(v, true);
  transpose(v);
  transform(v, false);
  quantize(coding, table, order, v, c);
}

/* Bits that wait for more of their byte, the last one lowest, and where their bytes go. */
typedef struct {
  uint64_t waiting;
  uint64_t count;
  uint8_t *next;
} Sink;

/* Adds the code for a number, and the number. Two coefficients, or a difference and one, fit between calls of `move`. */
INLINE void add(Sink *sink, const Codes *codes, uint32_t place, uint32_t number) {
  uint64_t count = codes->counts[place];
  sink->waiting = sink->waiting << count | (codes->bits[place] | number);
  sink->count += count;
}

/* Moves the bytes of which all bits are known to memory. */
INLINE void move(Sink *sink) {
  uint64_t bytes = __builtin_bswap64(sink->waiting << (-sink->count & 63));
  memcpy(sink->next, &bytes, sizeof bytes);
  sink->next += sink->count >> 3;
  sink->count &= 7;
}

/* Writes the bytes with one of zeros after each of ones. Copies 32 at a time, also beyond the end. */
static uint8_t *drain(const uint8_t *from, const uint8_t *end, uint8_t *out) {
  while (from < end) {
    Lanes bytes = _mm256_loadu_si256((const void *)from);
    uint32_t ones = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(-1)));
    _mm256_storeu_si256((void *)out, bytes);
    int64_t left = end - from, count = _tzcnt_u32(ones) + 1;
    if (count > left || count > 32) {
      count = left < 32 ? left : 32;
      from += count;
      out += count;
    } else {
      from += count;
      out += count;
      *out++ = 0;
    }
  }
  return out;
}

INLINE uint32_t length_of(uint32_t size) { return 32 - _lzcnt_u32(size); }

/* Adds the first coefficient of those that are present, the lowest of which would be at `order`. */
INLINE void add_coefficient(
  Sink *sink, const Codes *codes, const uint16_t *sizes, const uint16_t *bits, uint64_t *present,
  const uint8_t **order) {
  uint32_t zeros = (uint32_t)_tzcnt_u64(*present), place = (*order)[zeros], length = length_of(sizes[place]);
  *present = *present >> (zeros + 1);
  *order += zeros + 1;
  for (; __builtin_expect(zeros > 15, 0); zeros -= 16) {
    move(sink);
    add(sink, codes, 0xF0, 0);
    move(sink);
  }
  add(sink, codes, 16 * zeros + length, _bzhi_u32(bits[place], length));
}

INLINE void add_block(
  const scanmill_jpeg_coding *coding, int table, const Coefficients *c, int block, int32_t *last_dc, Sink *shared) {
  Sink local = *shared, *sink = &local;
  const Codes *codes = &coding->ac[table];
  const uint16_t *sizes = c->sizes[block], *bits = c->bits[block];
  int32_t difference = c->dc[block] - *last_dc;
  *last_dc = c->dc[block];
  int32_t sign = difference >> 31;
  uint32_t length = length_of((uint32_t)((difference ^ sign) - sign));
  add(sink, &coding->dc[table], length, _bzhi_u32((uint32_t)(difference + sign), length));
  const uint8_t *order = zigzag + 1;
  for (uint64_t present = c->present[block]; present;) {
    add_coefficient(sink, codes, sizes, bits, &present, &order);
    move(sink);
    if (!present) break;
    add_coefficient(sink, codes, sizes, bits, &present, &order);
  }
  /* The end of the block, unless the last coefficient is present. */
  if (order < zigzag + 64) add(sink, codes, 0, 0);
  move(sink);
  *shared = local;
}

/* A block outside of the picture: as the one before, without details. */
static void add_empty(const scanmill_jpeg_coding *coding, Sink *sink) {
  add(sink, &coding->dc[0], 0, 0);
  add(sink, &coding->ac[0], 0, 0);
  move(sink);
}

/* The square at the edge of a picture with its last pixels repeated. */
static void repeat_edge(
  const uint8_t *rgb, int64_t stride, int64_t columns, int64_t rows, uint8_t square[16][48]) {
  for (int64_t y = 0; y < 16; y++) {
    const uint8_t *row = rgb + (y < rows ? y : rows - 1) * stride;
    memcpy(square[y], row, (size_t)(3 * columns));
    for (int64_t x = columns; x < 16; x++) memcpy(square[y] + 3 * x, row + 3 * (columns - 1), 3);
  }
}

static Order make_order(void) {
  Order order;
  memset(&order, 128, sizeof order);
  for (int i = 0; i < 64; i++) order.pairs[i / 16][zigzag[i] / 16][i % 16] = zigzag[i] % 16;
  return order;
}

/* What a square of six blocks can take: 26 bits a coefficient. */
#define SQUARE_BYTES (6 * 64 * 26 / 8)
/* Bytes that wait for those of zeros after those of ones. */
#define PIECE 8192

int64_t scanmill_jpeg_encode(
  const scanmill_jpeg_coding *coding, const uint8_t *rgb, int64_t width, int64_t height, uint8_t *out,
  int64_t capacity) {
  const Order order = make_order();
  uint8_t piece[PIECE];
  Sink sink = {0, 0, piece};
  const uint8_t *start = out, *end = out + capacity;
  int32_t last[3] = {0, 0, 0};
  int64_t stride = 3 * width;
  for (int64_t top = 0; top < height; top += 16) {
    for (int64_t left = 0; left < width; left += 16) {
      if (sink.next - piece > PIECE - SQUARE_BYTES - 64) {
        if (end - out < 2 * PIECE) return -1;
        out = drain(piece, sink.next, out);
        sink.next = piece;
      }
      int64_t columns = width - left, rows = height - top;
      const uint8_t *square = rgb + top * stride + 3 * left;
      Lanes luma[16], chroma[8];
      if (columns >= 16 && rows >= 16) {
        convert_square(square, stride, luma, chroma);
      } else {
        uint8_t whole[16][48];
        repeat_edge(square, stride, columns < 16 ? columns : 16, rows < 16 ? rows : 16, whole);
        convert_square(whole[0], sizeof whole[0], luma, chroma);
        /* The last row of chroma is repeated, not that of pixels. */
        for (int64_t row = (rows + 1) / 2; row < 8; row++) chroma[row] = chroma[row - 1];
      }
      /* Faster than all transforms before all codes: the processor does a part of one beside the other. */
      Coefficients coefficients;
      for (int half = 0; half < 2; half++) {
        if (8 * half < rows) {
          transform_blocks(coding, 0, &order, luma + 8 * half, &coefficients);
          add_block(coding, 0, &coefficients, 0, last, &sink);
        } else {
          add_empty(coding, &sink);
        }
        if (8 * half < rows && columns > 8) {
          add_block(coding, 0, &coefficients, 1, last, &sink);
        } else {
          add_empty(coding, &sink);
        }
      }
      transform_blocks(coding, 1, &order, chroma, &coefficients);
      add_block(coding, 1, &coefficients, 0, last + 1, &sink);
      add_block(coding, 1, &coefficients, 1, last + 2, &sink);
    }
  }
  /* The last byte is filled up with ones. */
  uint32_t unused = -sink.count & 7;
  sink.waiting = sink.waiting << unused | ((1u << unused) - 1);
  sink.count += unused;
  move(&sink);
  if (end - out < 2 * PIECE) return -1;
  out = drain(piece, sink.next, out);
  *out++ = 0xFF;
  *out++ = 0xD9;
  return out - start;
}

#pragma clang attribute pop

/* The factors by which a number of 16 bits is divided exactly (jcdctmgr.c). */
static void set_divisor(scanmill_jpeg_coding *coding, int table, int place, uint32_t divisor) {
  uint32_t shift = 16 + 31 - (uint32_t)__builtin_clz(divisor);
  uint64_t whole = (uint64_t)1 << shift;
  uint32_t reciprocal = (uint32_t)(whole / divisor), rest = (uint32_t)(whole % divisor), correction = divisor / 2;
  if (rest == 0) {
    reciprocal >>= 1;
    shift--;
  } else if (rest <= divisor / 2) {
    correction++;
  } else {
    reciprocal++;
  }
  coding->corrections[table][place] = (uint16_t)correction;
  coding->reciprocals[table][place] = (uint16_t)reciprocal;
  coding->scales[table][place] = (uint16_t)(1u << (32 - shift));
}

/* The codes of a table in the order of their lengths (ITU-T T.81, annex C). False if it has not all of them. */
static bool read_codes(const uint8_t *counts, int64_t symbols, Codes *codes, int64_t needed) {
  const uint8_t *symbol = counts + 16;
  uint32_t code = 0;
  int64_t found = 0;
  for (uint32_t length = 1; length <= 16; length++, code <<= 1) {
    for (int i = 0; i < counts[length - 1]; i++, code++, symbol++, found++) {
      if (found >= symbols || *symbol >= (needed > 16 ? 256 : 16)) return false;
      codes->bits[*symbol] = code << (*symbol & 15);
      codes->counts[*symbol] = (uint8_t)(length + (*symbol & 15));
    }
  }
  return found == needed && found == symbols;
}

static bool read_coding(const uint8_t *head, int64_t count, scanmill_jpeg_coding *coding) {
  int quantizations = 0, codes = 0;
  bool is_baseline = false;
  for (int64_t at = 2; at + 4 <= count && head[at] == 0xFF;) {
    uint8_t marker = head[at + 1];
    int64_t length = head[at + 2] << 8 | head[at + 3];
    const uint8_t *body = head + at + 4;
    if (at + 2 + length > count) return false;
    if (marker == 0xDB && length == 67 && body[0] < 2) {
      for (int i = 0; i < 64; i++) set_divisor(coding, body[0], zigzag[i], 8 * (uint32_t)body[1 + i]);
      quantizations |= 1 << body[0];
    } else if (marker == 0xC4 && length > 19 && (body[0] & 0xEF) < 2) {
      int table = body[0] & 1;
      bool is_ac = body[0] >= 16;
      if (!read_codes(body + 1, length - 19, is_ac ? &coding->ac[table] : &coding->dc[table], is_ac ? 162 : 12)) {
        return false;
      }
      codes |= 1 << (2 * is_ac + table);
    } else if (marker == 0xC0 && length == 17) {
      is_baseline = body[0] == 8 && body[5] == 3 && body[7] == 0x22 && body[10] == 0x11 && body[13] == 0x11;
    } else if (marker == 0xDA) {
      return is_baseline && quantizations == 3 && codes == 15 && at + 2 + length == count;
    } else if (marker != 0xE0) {
      return false;
    }
    at += 2 + length;
  }
  return false;
}

scanmill_jpeg_coding *scanmill_jpeg_coding_of(const uint8_t *head, int64_t count) {
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi") || !__builtin_cpu_supports("bmi2")
      || !__builtin_cpu_supports("lzcnt")) {
    return NULL;
  }
  scanmill_jpeg_coding *coding = calloc(1, sizeof *coding);
  if (coding && !read_coding(head, count, coding)) {
    free(coding);
    return NULL;
  }
  return coding;
}

void scanmill_jpeg_forget(scanmill_jpeg_coding *coding) { free(coding); }

#else

scanmill_jpeg_coding *scanmill_jpeg_coding_of(const uint8_t *head, int64_t count) {
  (void)head, (void)count;
  return NULL;
}

void scanmill_jpeg_forget(scanmill_jpeg_coding *coding) { (void)coding; }

int64_t scanmill_jpeg_encode(
  const scanmill_jpeg_coding *coding, const uint8_t *rgb, int64_t width, int64_t height, uint8_t *out,
  int64_t capacity) {
  (void)coding, (void)rgb, (void)width, (void)height, (void)out, (void)capacity;
  return -1;
}

#endif
