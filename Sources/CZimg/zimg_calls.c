#define _GNU_SOURCE
#include "CZimg.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* The major version of the library that belongs to the API of the header. */
#if ZIMG_API_VERSION_MAJOR != 2
#error "The name of the library belongs to version 2 of zimg's API: look it up for the installed one"
#endif
static const char *const file_name = "libzimg.so.2";

static struct {
#define F(library, function) __typeof__(&function) function;
#include "functions.h"
#undef F
} at;

static const struct {
  const char *name;
  void **place;
} functions[] = {
#define F(library, function) {#function, (void **)&at.function},
#include "functions.h"
#undef F
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char problem[512];

static void load(void) {
  void *handle = dlopen(file_name, RTLD_LAZY | RTLD_LOCAL);
  if (handle == NULL) {
    const char *why = dlerror();
    snprintf(
      problem, sizeof problem, "%s cannot be loaded: %s; install libzimg2", file_name,
      why != NULL ? why : "no reason given");
    return;
  }
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    void *address = dlsym(handle, functions[i].name);
    if (address == NULL) {
      snprintf(
        problem, sizeof problem, "%s has no function %s: build this program again with it",
        file_name, functions[i].name);
      return;
    }
    *functions[i].place = address;
  }
}

const char *scanmill_zimg_load(void) {
  pthread_once(&once, load);
  return problem[0] != 0 ? problem : NULL;
}

const char *scanmill_zimg_name(void) { return file_name; }

void scanmill_zimg_version(unsigned version[3]) {
  at.zimg_get_version_info(&version[0], &version[1], &version[2]);
}

zimg_image_format scanmill_zimg_format(void) {
  zimg_image_format format;
  at.zimg_image_format_default(&format, ZIMG_API_VERSION);
  return format;
}

zimg_graph_builder_params scanmill_zimg_params(void) {
  zimg_graph_builder_params params;
  at.zimg_graph_builder_params_default(&params, ZIMG_API_VERSION);
  return params;
}

zimg_filter_graph *scanmill_zimg_build(
  const zimg_image_format *source, const zimg_image_format *target,
  const zimg_graph_builder_params *params) {
  return at.zimg_filter_graph_build(source, target, params);
}

void scanmill_zimg_free(zimg_filter_graph *graph) {
  if (graph != NULL)
    at.zimg_filter_graph_free(graph);
}

int scanmill_zimg_needs(const zimg_filter_graph *graph, size_t *bytes, unsigned *lines) {
  int status = at.zimg_filter_graph_get_tmp_size(graph, bytes);
  return status != 0 ? status : (int)at.zimg_filter_graph_get_output_buffering(graph, lines);
}

unsigned scanmill_zimg_mask(unsigned lines) { return at.zimg_select_buffer_mask(lines); }

int scanmill_zimg_process(
  const zimg_filter_graph *graph, const void *const source[3], const ptrdiff_t source_strides[3],
  void *const target[3], const ptrdiff_t target_strides[3], unsigned target_mask, void *memory,
  zimg_filter_graph_callback row, void *user) {
  zimg_image_buffer_const from;
  zimg_image_buffer to;
  memset(&from, 0, sizeof from);
  memset(&to, 0, sizeof to);
  from.version = ZIMG_API_VERSION;
  to.version = ZIMG_API_VERSION;
  for (int plane = 0; plane < 3; plane++) {
    from.plane[plane].data = source[plane];
    from.plane[plane].stride = source_strides[plane];
    from.plane[plane].mask = ZIMG_BUFFER_MAX;
    to.plane[plane].data = target[plane];
    to.plane[plane].stride = target_strides[plane];
    to.plane[plane].mask = target_mask;
  }
  return at.zimg_filter_graph_process(graph, &from, &to, memory, NULL, NULL, row, user);
}

void scanmill_zimg_error(char *text, size_t bytes) {
  if (bytes > 0)
    text[0] = 0;
  at.zimg_get_last_error(text, bytes);
}
