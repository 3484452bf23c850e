#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "loading.h"

/*
 * Versions without loading: FFmpeg's files are named libavcodec.so.59.37.100, and libavcodec.so.59 is a link to that file.
 * Which of several files the loader takes is not known here, so all that it may find must have one version.
 */

typedef struct {
  const char *name;
  unsigned version; /* version of the files found so far; 0 = none */
  int is_unclear;
} search;

/* Reads one folder in which the loader may find the library. */
static void consider(search *s, const char *path) {
  char file[PATH_MAX];
  /* Most are absent, which one call tells; the other one asks for every folder of the path. */
  if (access(path, F_OK) != 0 || realpath(path, file) == NULL) return;
  const char *base = strrchr(file, '/');
  size_t length = strlen(s->name);
  const char *stem = strstr(s->name, ".so.");
  unsigned major, minor, micro, wanted;
  char end;
  unsigned version = 0;
  if (base != NULL && strncmp(base + 1, s->name, length) == 0 && stem != NULL
      && sscanf(stem, ".so.%u", &wanted) == 1
      && sscanf(base + 1 + (stem - s->name), ".so.%u.%u.%u%c", &major, &minor, &micro, &end) == 3
      && major == wanted && minor < 256 && micro < 256)
    version = major << 16 | minor << 8 | micro;
  if (version == 0 || (s->version != 0 && s->version != version)) s->is_unclear = 1;
  s->version = version;
}

static void consider_in(search *s, const char *folder) {
  /* Variants for newer processors, which the loader prefers. */
  static const char *const kinds[] = {
    "", "/glibc-hwcaps/x86-64-v4", "/glibc-hwcaps/x86-64-v3", "/glibc-hwcaps/x86-64-v2"};
  char path[PATH_MAX];
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    if (snprintf(path, sizeof path, "%s%s/%s", folder, kinds[i], s->name) < (int)sizeof path)
      consider(s, path);
  }
}

/* The folders of LD_LIBRARY_PATH, of the program itself, and the system's own. */
static void consider_folders(search *s) {
  void *program = dlopen(NULL, RTLD_LAZY);
  Dl_serinfo size;
  if (program == NULL || dlinfo(program, RTLD_DI_SERINFOSIZE, &size) != 0) {
    s->is_unclear = 1;
    return;
  }
  Dl_serinfo *folders = malloc(size.dls_size);
  if (folders == NULL || dlinfo(program, RTLD_DI_SERINFOSIZE, folders) != 0
      || dlinfo(program, RTLD_DI_SERINFO, folders) != 0) {
    s->is_unclear = 1;
  } else {
    for (unsigned i = 0; i < folders->dls_cnt; i++) {
      consider_in(s, folders->dls_serpath[i].dls_name);
    }
  }
  free(folders);
}

/* All paths that end with the name in ldconfig's list, whatever its format: they are strings with a zero
   behind each. */
static void consider_cache(search *s) {
  int file = open("/etc/ld.so.cache", O_RDONLY | O_CLOEXEC);
  if (file < 0) return; /* then the loader has none either */
  struct stat status;
  if (fstat(file, &status) != 0 || status.st_size <= 0) {
    close(file);
    return;
  }
  size_t count = (size_t)status.st_size;
  const char *bytes = mmap(NULL, count, PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  if (bytes == MAP_FAILED) {
    s->is_unclear = 1;
    return;
  }
  char ending[64];
  int length = snprintf(ending, sizeof ending, "/%s", s->name) + 1;
  const char *at = bytes, *end = bytes + count;
  while ((at = memmem(at, (size_t)(end - at), ending, (size_t)length)) != NULL) {
    const char *start = at;
    while (start > bytes && start[-1] != 0) start--;
    if (*start == '/') consider(s, start);
    at += length;
  }
  munmap((void *)bytes, count);
}

unsigned scanmill_ffmpeg_file_version(enum scanmill_ffmpeg library) {
  search s = {scanmill_ffmpeg_name(library), 0, 0};
  consider_folders(&s);
  consider_cache(&s);
  return s.is_unclear ? 0 : s.version;
}
