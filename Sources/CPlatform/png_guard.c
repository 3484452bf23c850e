#include "png_guard.h"

#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct scanmill_png_reader {
  png_structp png;
  png_infop info;
  const uint8_t *bytes;
  size_t count;
  size_t offset;
  uint32_t height;
  size_t row_bytes;
  int passes;
  jmp_buf escape;
  char *message;
  size_t message_bytes;
};

static void on_error(png_structp png, png_const_charp text) {
  scanmill_png_reader *reader = png_get_error_ptr(png);
  if (reader->message_bytes > 0)
    snprintf(reader->message, reader->message_bytes, "%s", text);
  longjmp(reader->escape, 1);
}

static void on_warning(png_structp png, png_const_charp text) {
  (void)png;
  (void)text;
}

static void take_bytes(png_structp png, png_bytep destination, size_t count) {
  scanmill_png_reader *reader = png_get_io_ptr(png);
  if (count > reader->count - reader->offset) {
    reader->offset = reader->count;
    png_error(png, "the file ends early");
  }
  memcpy(destination, reader->bytes + reader->offset, count);
  reader->offset += count;
}

static void set_layout(
  scanmill_png_reader *reader, enum scanmill_png_layout layout,
  const scanmill_png_description *file) {
  png_structp png = reader->png;
  switch (layout) {
  case scanmill_png_gray8:
    if (file->color_type != PNG_COLOR_TYPE_GRAY || file->bit_depth > 8)
      png_error(png, "not an 8-bit gray picture");
    png_set_expand_gray_1_2_4_to_8(png);
    break;
  case scanmill_png_gray16:
    if (file->color_type != PNG_COLOR_TYPE_GRAY || file->bit_depth != 16)
      png_error(png, "not a 16-bit gray picture");
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    png_set_swap(png);
#endif
    break;
  case scanmill_png_rgb16:
    if (file->color_type != PNG_COLOR_TYPE_RGB || file->bit_depth != 16)
      png_error(png, "not a 16-bit RGB picture");
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    png_set_swap(png);
#endif
    png_set_strip_alpha(png);
    break;
  case scanmill_png_rgb8:
    if (file->color_type == PNG_COLOR_TYPE_PALETTE)
      png_set_palette_to_rgb(png);
    if ((file->color_type & PNG_COLOR_MASK_COLOR) == 0) {
      png_set_expand_gray_1_2_4_to_8(png);
      png_set_gray_to_rgb(png);
    }
    if (file->bit_depth == 16)
      png_set_scale_16(png);
    /* Palette entries and tRNS chunks bring an alpha channel, too. */
    png_set_strip_alpha(png);
    break;
  }
}

scanmill_png_reader *scanmill_png_open(
  const uint8_t *bytes, size_t count, uint32_t largest_side, enum scanmill_png_layout layout,
  scanmill_png_description *description, char *message, size_t message_bytes) {
  scanmill_png_reader *reader = calloc(1, sizeof *reader);
  if (reader == NULL) {
    snprintf(message, message_bytes, "out of memory");
    return NULL;
  }
  reader->bytes = bytes;
  reader->count = count;
  reader->message = message;
  reader->message_bytes = message_bytes;
  if (setjmp(reader->escape) != 0) {
    scanmill_png_close(reader);
    return NULL;
  }
  reader->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, reader, on_error, on_warning);
  if (reader->png != NULL)
    reader->info = png_create_info_struct(reader->png);
  if (reader->info == NULL) {
    snprintf(message, message_bytes, "out of memory");
    scanmill_png_close(reader);
    return NULL;
  }
  png_set_read_fn(reader->png, reader, take_bytes);
  png_set_user_limits(reader->png, largest_side, largest_side);
  png_set_chunk_malloc_max(reader->png, 1 << 20);
  png_set_chunk_cache_max(reader->png, 64);
  png_read_info(reader->png, reader->info);

  description->width = png_get_image_width(reader->png, reader->info);
  description->height = png_get_image_height(reader->png, reader->info);
  description->bit_depth = png_get_bit_depth(reader->png, reader->info);
  description->color_type = png_get_color_type(reader->png, reader->info);
  set_layout(reader, layout, description);
  reader->passes = png_set_interlace_handling(reader->png);
  png_read_update_info(reader->png, reader->info);
  description->row_bytes = png_get_rowbytes(reader->png, reader->info);
  reader->height = description->height;
  reader->row_bytes = description->row_bytes;
  return reader;
}

int scanmill_png_read(
  scanmill_png_reader *reader, void *pixels, size_t pixel_bytes, char *message,
  size_t message_bytes) {
  reader->message = message;
  reader->message_bytes = message_bytes;
  if (setjmp(reader->escape) != 0)
    return -1;
  if (reader->height > 0 && pixel_bytes / reader->height < reader->row_bytes)
    png_error(reader->png, "the buffer for the pixels is too small");
  for (int pass = 0; pass < reader->passes; pass++) {
    for (uint32_t row = 0; row < reader->height; row++)
      png_read_row(reader->png, (png_bytep)pixels + row * reader->row_bytes, NULL);
  }
  png_read_end(reader->png, NULL);
  return 0;
}

size_t scanmill_png_offset(const scanmill_png_reader *reader) { return reader->offset; }

void scanmill_png_close(scanmill_png_reader *reader) {
  if (reader == NULL)
    return;
  if (reader->png != NULL)
    png_destroy_read_struct(&reader->png, &reader->info, NULL);
  free(reader);
}
