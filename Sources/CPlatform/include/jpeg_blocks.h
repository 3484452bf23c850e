#ifndef SCANMILL_JPEG_BLOCKS_H
#define SCANMILL_JPEG_BLOCKS_H

#include <stdint.h>

/* The quantization and the codes of a baseline JPEG file with three components at 4:2:0, in the form that the loops need. */
typedef struct scanmill_jpeg_coding scanmill_jpeg_coding;

/* Reads them from the head of a file, the segments before the entropy-coded data. NULL for files that are coded in another
   way (progressive, with codes made for one picture, with restarts), and on processors without AVX2. */
scanmill_jpeg_coding *scanmill_jpeg_coding_of(const uint8_t *head, int64_t count);

void scanmill_jpeg_forget(scanmill_jpeg_coding *coding);

/* Writes the entropy-coded data of an RGB picture, and the end marker: the bytes that libjpeg-turbo writes with its accurate
   transform. Returns how many, or -1 where `capacity` may be too small, which has 16 KB besides. */
int64_t scanmill_jpeg_encode(
  const scanmill_jpeg_coding *coding, const uint8_t *rgb, int64_t width, int64_t height, uint8_t *out,
  int64_t capacity);

#endif
