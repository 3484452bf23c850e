#pragma once
#include <stddef.h>
#include <zimg.h>

/*
 * Loads zimg unless it is loaded. Returns NULL, or why it cannot be used. May be called from any thread. All
 * other functions here need a call that returned NULL.
 */
const char *scanmill_zimg_load(void);

/* The file name that is loaded. */
const char *scanmill_zimg_name(void);

/* Major, minor and patch version. */
void scanmill_zimg_version(unsigned version[3]);

/* A format and parameters with zimg's defaults. */
zimg_image_format scanmill_zimg_format(void);
zimg_graph_builder_params scanmill_zimg_params(void);

/* NULL on failure, whose reason `scanmill_zimg_error` gives. */
zimg_filter_graph *scanmill_zimg_build(
  const zimg_image_format *source, const zimg_image_format *target,
  const zimg_graph_builder_params *params);
void scanmill_zimg_free(zimg_filter_graph *graph);

/* The bytes of working memory and the lines of output that a graph needs; 0 on success. */
int scanmill_zimg_needs(const zimg_filter_graph *graph, size_t *bytes, unsigned *lines);

/* The mask of row numbers of a buffer of so many lines, and the number of its rows. */
unsigned scanmill_zimg_mask(unsigned lines);

/* Converts a picture of three planes, or of one whose data are the first; 0 on success. */
int scanmill_zimg_process(
  const zimg_filter_graph *graph, const void *const source[3], const ptrdiff_t source_strides[3],
  void *const target[3], const ptrdiff_t target_strides[3], unsigned target_mask, void *memory,
  zimg_filter_graph_callback row, void *user);

/* zimg's text about the last failure in this thread. */
void scanmill_zimg_error(char *text, size_t bytes);
