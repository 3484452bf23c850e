#define _GNU_SOURCE
#include "loading.h"

#include <dlfcn.h>
#include <libavcodec/version_major.h>
#include <libavformat/version_major.h>
#include <libavutil/version.h>
#include <libswscale/version_major.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "trampolines.h"

#define TEXT_OF(number) #number
#define NAME(library, major) "lib" library ".so." TEXT_OF(major)

/* In this order, because each depends only on those before it. */
static const char *const names[scanmill_ffmpeg_count] = {
  [scanmill_avutil] = NAME("avutil", LIBAVUTIL_VERSION_MAJOR),
  [scanmill_swscale] = NAME("swscale", LIBSWSCALE_VERSION_MAJOR),
  [scanmill_avcodec] = NAME("avcodec", LIBAVCODEC_VERSION_MAJOR),
  [scanmill_avformat] = NAME("avformat", LIBAVFORMAT_VERSION_MAJOR),
};

static const struct {
  enum scanmill_ffmpeg origin;
  const char *name;
  void **place;
} functions[] = {
#define F(library, function) {scanmill_##library, #function, &scanmill_at_##function},
#include "functions.h"
#undef F
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int is_loaded;
static char problem[512];

static void load(void) {
  void *handles[scanmill_ffmpeg_count];
  for (int i = 0; i < scanmill_ffmpeg_count; i++) {
    handles[i] = dlopen(names[i], RTLD_LAZY | RTLD_LOCAL);
    if (handles[i] == NULL) {
      const char *why = dlerror();
      snprintf(
        problem, sizeof problem,
        "%s cannot be loaded: %s; install the FFmpeg that this program was built with, or build it "
        "again", names[i], why != NULL ? why : "no reason given");
      return;
    }
  }
  size_t count = sizeof functions / sizeof *functions;
  for (int store = 0; store < 2; store++) {
    for (size_t i = 0; i < count; i++) {
      void *address = dlsym(handles[functions[i].origin], functions[i].name);
      if (address == NULL) {
        snprintf(
          problem, sizeof problem, "%s has no function %s: build this program again with it",
          names[functions[i].origin], functions[i].name);
        return;
      }
      /* Atomic, because other threads may jump through the pointer meanwhile. */
      if (store) __atomic_store_n(functions[i].place, address, __ATOMIC_RELEASE);
    }
  }
  __atomic_store_n(&is_loaded, 1, __ATOMIC_RELEASE);
}

const char *scanmill_ffmpeg_load(void) {
  pthread_once(&once, load);
  return problem[0] != 0 ? problem : NULL;
}

int scanmill_ffmpeg_is_loaded(void) { return __atomic_load_n(&is_loaded, __ATOMIC_ACQUIRE); }

const char *scanmill_ffmpeg_name(enum scanmill_ffmpeg library) { return names[library]; }

void scanmill_ffmpeg_require(void) {
  const char *why = scanmill_ffmpeg_load();
  if (why == NULL) return;
  (void)!write(STDERR_FILENO, "error: ", 7);
  (void)!write(STDERR_FILENO, why, strlen(why));
  (void)!write(STDERR_FILENO, "\n", 1);
  _exit(127);
}
