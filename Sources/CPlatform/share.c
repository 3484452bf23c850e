#define _GNU_SOURCE
#include "share.h"

#include <errno.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <unistd.h>

int scanmill_clone_file(int from, int to) { return ioctl(to, FICLONE, from) == 0 ? 0 : errno; }

int scanmill_copy_file(int from, int to) {
  off_t done = 0;
  for (;;) {
    ssize_t count = copy_file_range(from, &done, to, NULL, (size_t)1 << 30, 0);
    if (count == 0) return 0;
    if (count < 0 && errno != EINTR) {
      int code = errno;
      int cannot = code == EXDEV || code == EINVAL || code == ENOSYS || code == EOPNOTSUPP;
      return cannot && done == 0 ? EOPNOTSUPP : code;
    }
  }
}
