#define _GNU_SOURCE
#include "share.h"

#include <errno.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <unistd.h>

int scanmill_clone_file(int from, int to) { return ioctl(to, FICLONE, from) == 0 ? 0 : errno; }

int scanmill_copy_file(int from, int to, int64_t bytes) {
  off_t done = 0;
  int between = 0; /* different file systems: copy_file_range may not */
  while (done < bytes) {
    size_t piece = bytes - done < 1 << 30 ? (size_t)(bytes - done) : (size_t)1 << 30;
    ssize_t count = between ? sendfile(to, from, &done, piece) : copy_file_range(from, &done, to, NULL, piece, 0);
    if (count == 0) return bytes == INT64_MAX ? 0 : ENODATA;
    if (count > 0 || errno == EINTR) continue;
    int cannot = errno == EXDEV || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP;
    if (between || !cannot) return errno;
    between = 1;
  }
  return 0;
}
