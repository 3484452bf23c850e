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

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* How many of `names` are loaded. */
static int loaded;
static char problem[512];

/* Fills the pointers of one library when it has all their functions. */
static int fill(enum scanmill_ffmpeg library, void *handle) {
  size_t count = sizeof functions / sizeof *functions;
  for (int store = 0; store < 2; store++) {
    for (size_t i = 0; i < count; i++) {
      if (functions[i].origin != library) continue;
      void *address = dlsym(handle, functions[i].name);
      if (address == NULL) {
        snprintf(
          problem, sizeof problem, "%s has no function %s: build this program again with it",
          names[library], functions[i].name);
        return 0;
      }
      /* Atomic, because other threads may jump through the pointer meanwhile. */
      if (store) __atomic_store_n(functions[i].place, address, __ATOMIC_RELEASE);
    }
  }
  return 1;
}

static void load(enum scanmill_ffmpeg last) {
  while (problem[0] == 0 && loaded <= (int)last) {
    enum scanmill_ffmpeg library = loaded;
    void *handle = dlopen(names[library], RTLD_LAZY | RTLD_LOCAL);
    if (handle == NULL) {
      const char *why = dlerror();
      snprintf(
        problem, sizeof problem,
        "%s cannot be loaded: %s; install the FFmpeg that this program was built with, or build it "
        "again", names[library], why != NULL ? why : "no reason given");
    } else if (fill(library, handle)) {
      __atomic_store_n(&loaded, library + 1, __ATOMIC_RELEASE);
    }
  }
}

const char *scanmill_ffmpeg_load(enum scanmill_ffmpeg last) {
  if (scanmill_ffmpeg_is_loaded(last)) return NULL;
  pthread_mutex_lock(&lock);
  load(last);
  const char *why = scanmill_ffmpeg_is_loaded(last) ? NULL : problem;
  pthread_mutex_unlock(&lock);
  return why;
}

int scanmill_ffmpeg_is_loaded(enum scanmill_ffmpeg library) {
  return __atomic_load_n(&loaded, __ATOMIC_ACQUIRE) > (int)library;
}

const char *scanmill_ffmpeg_name(enum scanmill_ffmpeg library) { return names[library]; }

void scanmill_ffmpeg_require(void **place) {
  size_t at = 0;
  while (functions[at].place != place) at++;
  const char *why = scanmill_ffmpeg_load(functions[at].origin);
  if (why == NULL) return;
  (void)!write(STDERR_FILENO, "error: ", 7);
  (void)!write(STDERR_FILENO, why, strlen(why));
  (void)!write(STDERR_FILENO, "\n", 1);
  _exit(127);
}
