#pragma once
#include <stddef.h>
#include <stdint.h>

/*
 * libpng reports errors by longjmp, which must never cross a Swift frame: every call that can fail is
 * made here, between setjmp and return.
 */

/* What the pixels are converted to while reading. */
enum scanmill_png_layout {
  scanmill_png_gray8 = 0,  /* one byte a pixel; the file must be gray of at most 8 bits */
  scanmill_png_gray16 = 1, /* one uint16_t a pixel, host order; the file must be 16-bit gray */
  scanmill_png_rgb8 = 2,   /* three bytes a pixel; any kind of file, alpha is dropped */
  scanmill_png_rgb16 = 3   /* three uint16_t a pixel, host order; the file must be 16-bit RGB */
};

typedef struct scanmill_png_reader scanmill_png_reader;

typedef struct {
  uint32_t width;
  uint32_t height;
  uint32_t bit_depth;  /* as in the file: 1, 2, 4, 8 or 16 */
  uint32_t color_type; /* as in the file: PNG_COLOR_TYPE_… */
  size_t row_bytes;    /* of the converted rows */
} scanmill_png_description;

/*
 * Reads everything before the pixels of the `count` bytes at `bytes`, which must stay where they are
 * until the reader is closed. Sides above `largest_side` are an error. NULL on failure, with the reason
 * in `message`.
 */
scanmill_png_reader *scanmill_png_open(
  const uint8_t *bytes, size_t count, uint32_t largest_side, enum scanmill_png_layout layout,
  scanmill_png_description *description, char *message, size_t message_bytes);

/*
 * Reads all pixels and checks the file to its end. `pixels` must hold height * row_bytes bytes.
 * 0 on success, otherwise -1 with the reason in `message`. Call at most once.
 */
int scanmill_png_read(
  scanmill_png_reader *reader, void *pixels, size_t pixel_bytes, char *message,
  size_t message_bytes);

/* Number of input bytes consumed so far, which is where an error was found. */
size_t scanmill_png_offset(const scanmill_png_reader *reader);

void scanmill_png_close(scanmill_png_reader *reader);
