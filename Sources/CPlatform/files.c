#define _GNU_SOURCE
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

int scanmill_exchange_paths(const char *a, const char *b) {
  return renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE) == 0 ? 0 : errno;
}

int scanmill_rename_new(const char *from, const char *to) {
  if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return errno;
  return rename(from, to) == 0 ? 0 : errno;
}

int scanmill_sync_filesystem(int descriptor) { return syncfs(descriptor) == 0 ? 0 : errno; }

int scanmill_die_with_parent(int signal) {
  return prctl(PR_SET_PDEATHSIG, signal) == 0 ? 0 : errno;
}
