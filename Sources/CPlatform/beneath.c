#define _GNU_SOURCE
#include "beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* linux/openat2.h, which older systems lack. */
#ifndef SYS_openat2
#define SYS_openat2 437
#endif
enum { no_magic_links = 0x02, no_links = 0x04, beneath = 0x08 };
struct how {
  uint64_t flags, mode, resolve;
};

static int open_by_kernel(int folder, const char *path, int flags, int mode, uint64_t resolve) {
  struct how how = {
    .flags = (uint64_t)(unsigned int)flags,
    .mode = flags & O_CREAT ? (uint64_t)(unsigned int)mode : 0,
    .resolve = resolve,
  };
  long opened;
  int looks = 0;
  do {
    opened = syscall(SYS_openat2, folder, path, &how, sizeof how);
    /* EAGAIN: something was renamed meanwhile, and the kernel cannot tell whether the folder was left. */
  } while (opened < 0 && (errno == EINTR || (errno == EAGAIN && ++looks < 128)));
  return opened < 0 ? -errno : (int)opened;
}

/* EPERM is what old filters of containers answer to system calls that they do not know; opening never does for
   another reason than a file's own (O_NOATIME, sealed files), which walking tells as well. */
static int is_unknown(int result) { return result == -ENOSYS || result == -EPERM; }

int scanmill_open_beneath(int folder, const char *path, int flags, int mode, int follows_links) {
  const int opened = open_by_kernel(
    folder, path, flags, mode, beneath | no_magic_links | (follows_links ? 0 : no_links));
  return is_unknown(opened) ? scanmill_walk_beneath(folder, path, flags, mode, follows_links)
                            : opened;
}

int scanmill_open_without_links(const char *path, int flags, int mode) {
  const int opened = open_by_kernel(AT_FDCWD, path, flags, mode, no_links);
  if (!is_unknown(opened)) return opened;
  const int is_absolute = path[0] == '/';
  const int start = open(is_absolute ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (start < 0) return -errno;
  path += strspn(path, "/");
  const int found = scanmill_walk_beneath(start, path[0] ? path : ".", flags, mode, 0);
  close(start);
  return found;
}

enum { most_links = 40, deepest = 256 };

/* The open folders from the start to the current position of the walk. */
struct way {
  int places[deepest];
  int depth;
};

static void go_back_to(struct way *way, int depth) {
  while (way->depth > depth) close(way->places[way->depth--]);
}

/* The last step of a walk: the name must not be a link. */
static int open_last(int place, const char *name, int flags, int mode) {
  const int opened = openat(place, name, flags | O_NOFOLLOW, mode);
  if (opened < 0) return -errno;
  struct stat status;
  if ((flags & O_PATH) && !(flags & O_NOFOLLOW) && fstat(opened, &status) == 0
      && S_ISLNK(status.st_mode)) {
    close(opened);
    return -ELOOP;
  }
  return opened;
}

static int walk(struct way *way, const char *path, int flags, int mode, int follows_links) {
  char rest[PATH_MAX], target[PATH_MAX], name[NAME_MAX + 1];
  if (path[0] == 0) return -ENOENT;
  if (path[0] == '/') return -EXDEV;
  if (strlen(path) >= sizeof rest) return -ENAMETOOLONG;
  strcpy(rest, path);
  int links = 0;
  for (const char *next = rest;;) {
    next += strspn(next, "/");
    const size_t length = strcspn(next, "/");
    if (length >= sizeof name) return -ENAMETOOLONG;
    memcpy(name, next, length);
    name[length] = 0;
    const char *after = next + length;
    /* With a trailing slash it must be a folder. */
    const int is_last = *after == 0;
    next = after;
    if (length == 0) return open_last(way->places[way->depth], ".", flags & ~O_CREAT, 0);
    if (strcmp(name, ".") == 0) continue;
    if (strcmp(name, "..") == 0) {
      if (way->depth == 0) return -EXDEV;
      go_back_to(way, way->depth - 1);
      continue;
    }
    const int place = way->places[way->depth];
    const ssize_t size = is_last && (flags & O_NOFOLLOW)
                           ? -1 : readlinkat(place, name, target, sizeof target);
    if (size >= 0) {
      if (!follows_links || ++links > most_links) return -ELOOP;
      if (size == 0) return -ENOENT;
      if (target[0] == '/') return -EXDEV;
      const size_t left = strlen(after) + 1;
      if ((size_t)size + left > sizeof rest) return -ENAMETOOLONG;
      /* `after` points into `rest`. */
      memmove(rest + size, after, left);
      memcpy(rest, target, (size_t)size);
      next = rest;
      continue;
    }
    if (is_last) return open_last(place, name, flags, mode);
    if (way->depth + 1 >= deepest) return -ENAMETOOLONG;
    const int inner = openat(place, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (inner < 0) return -errno;
    way->places[++way->depth] = inner;
  }
}

int scanmill_walk_beneath(int folder, const char *path, int flags, int mode, int follows_links) {
  struct way way = {.places = {folder}, .depth = 0};
  const int opened = walk(&way, path, flags, mode, follows_links);
  go_back_to(&way, 0);
  return opened;
}
