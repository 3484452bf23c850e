/* Encoders of packaged libraries behind one function, for encoders.py, which compiles this file once for each of them.
   An encoder of somebody else has the same function in a shared library: encoders.py --with NAME=LIBRARY.so. */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Encodes rows without padding, samples of `bits` 8 or 16 in the byte order of the host, and returns the number of
   bytes at `target`; 0 where it cannot. `level` is 0 for encoders that have none. */
int64_t encode(
  const uint8_t *samples, int64_t width, int64_t height, int64_t channels, int64_t bits, int64_t level, uint8_t *target,
  int64_t capacity);

/* The lines of a PNG file, predicted by Up, which is the fastest filter that helps. Memory is kept from picture to
   picture. */
__attribute__((unused)) static uint8_t *lines_of(
  const uint8_t *samples, int64_t width, int64_t height, int64_t channels, int64_t bits) {
  static uint8_t *lines;
  static int64_t size;
  int64_t row = width * channels * bits / 8;
  if (size < (row + 1) * height) {
    size = (row + 1) * height;
    free(lines);
    lines = malloc(size);
  }
  for (int64_t y = 0; lines && y < height; y++) {
    const uint8_t *restrict current = samples + y * row, *restrict above = y > 0 ? current - row : current;
    uint8_t *restrict line = lines + y * (row + 1);
    *line++ = 2;
    if (bits == 8) {
      for (int64_t i = 0; i < row; i++) line[i] = current[i] - (y > 0 ? above[i] : 0);
    } else {
      for (int64_t i = 0; i < row; i++) line[i] = current[i ^ 1] - (y > 0 ? above[i ^ 1] : 0);
    }
  }
  return lines;
}

#if defined USE_ISAL
#include <isa-l/igzip_lib.h>

int64_t encode(
  const uint8_t *samples, int64_t width, int64_t height, int64_t channels, int64_t bits, int64_t level, uint8_t *target,
  int64_t capacity) {
  static const uint32_t sizes[] = {0, ISAL_DEF_LVL1_DEFAULT, ISAL_DEF_LVL2_DEFAULT, ISAL_DEF_LVL3_DEFAULT};
  static uint8_t *buffer;
  if (!buffer) buffer = malloc(ISAL_DEF_LVL3_DEFAULT);
  uint8_t *lines = lines_of(samples, width, height, channels, bits);
  struct isal_zstream stream;
  isal_deflate_init(&stream);
  stream.end_of_stream = 1;
  stream.gzip_flag = IGZIP_ZLIB;
  stream.level = level;
  stream.level_buf = buffer;
  stream.level_buf_size = sizes[level];
  stream.next_in = lines;
  stream.avail_in = (width * channels * bits / 8 + 1) * height;
  stream.next_out = target;
  stream.avail_out = capacity;
  int status = isal_deflate(&stream);
  return status == COMP_OK && stream.avail_in == 0 ? stream.total_out : 0;
}

#elif defined USE_LIBDEFLATE
#include <libdeflate.h>

int64_t encode(
  const uint8_t *samples, int64_t width, int64_t height, int64_t channels, int64_t bits, int64_t level, uint8_t *target,
  int64_t capacity) {
  static struct libdeflate_compressor *compressors[13];
  if (!compressors[level]) compressors[level] = libdeflate_alloc_compressor(level);
  uint8_t *lines = lines_of(samples, width, height, channels, bits);
  return libdeflate_zlib_compress(
    compressors[level], lines, (width * channels * bits / 8 + 1) * height, target, capacity);
}

#elif defined USE_LIBSPNG
#include <spng.h>

int64_t encode(
  const uint8_t *samples, int64_t width, int64_t height, int64_t channels, int64_t bits, int64_t level, uint8_t *target,
  int64_t capacity) {
  spng_ctx *context = spng_ctx_new(SPNG_CTX_ENCODER);
  struct spng_ihdr header = {
    .width = width, .height = height, .bit_depth = bits, .color_type = channels == 3 ? 2 : 0};
  spng_set_option(context, SPNG_ENCODE_TO_BUFFER, 1);
  spng_set_option(context, SPNG_IMG_COMPRESSION_LEVEL, level);
  spng_set_option(context, SPNG_FILTER_CHOICE, SPNG_FILTER_CHOICE_UP);
  spng_set_ihdr(context, &header);
  size_t count = 0;
  int status = spng_encode_image(
    context, samples, width * channels * bits / 8 * height, SPNG_FMT_PNG, SPNG_ENCODE_FINALIZE);
  uint8_t *file = status == 0 ? spng_get_png_buffer(context, &count, &status) : NULL;
  if (file && (int64_t)count <= capacity) memcpy(target, file, count);
  free(file);
  spng_ctx_free(context);
  return file ? (int64_t)count : 0;
}

#elif defined USE_LIBPNG
#include <png.h>

struct output {
  uint8_t *target;
  int64_t count, capacity;
};

static void append(png_structp png, png_bytep bytes, size_t count) {
  struct output *output = png_get_io_ptr(png);
  if (output->count + (int64_t)count > output->capacity) png_error(png, "the file is larger than expected");
  memcpy(output->target + output->count, bytes, count);
  output->count += count;
}

static void flush(png_structp png) { (void)png; }

int64_t encode(
  const uint8_t *samples, int64_t width, int64_t height, int64_t channels, int64_t bits, int64_t level, uint8_t *target,
  int64_t capacity) {
  struct output output = {target, 0, capacity};
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
  png_infop info = png_create_info_struct(png);
  if (setjmp(png_jmpbuf(png))) {
    png_destroy_write_struct(&png, &info);
    return 0;
  }
  png_set_write_fn(png, &output, append, flush);
  png_set_IHDR(
    png, info, width, height, bits, channels == 3 ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE,
    PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_set_compression_level(png, level);
  png_set_filter(png, 0, PNG_FILTER_UP);
  png_write_info(png, info);
  if (bits == 16) png_set_swap(png);
  for (int64_t y = 0; y < height; y++) png_write_row(png, samples + y * width * channels * bits / 8);
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  return output.count;
}

#elif defined USE_ZSTD
#include <zstd.h>

int64_t encode(
  const uint8_t *samples, int64_t width, int64_t height, int64_t channels, int64_t bits, int64_t level, uint8_t *target,
  int64_t capacity) {
  size_t count = ZSTD_compress(target, capacity, samples, width * height * channels * bits / 8, level);
  return ZSTD_isError(count) ? 0 : (int64_t)count;
}

#elif defined USE_LZ4
#include <lz4.h>

int64_t encode(
  const uint8_t *samples, int64_t width, int64_t height, int64_t channels, int64_t bits, int64_t level, uint8_t *target,
  int64_t capacity) {
  (void)level;
  return LZ4_compress_default(
    (const char *)samples, (char *)target, width * height * channels * bits / 8, capacity);
}

#endif
