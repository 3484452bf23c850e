#pragma once

#include <stdint.h>

/* Makes the open empty file `to` share the blocks of the open file `from`, copied when either is written
   (FICLONE). 0, or errno: EOPNOTSUPP, EXDEV, EINVAL, ENOTTY where the file system cannot. */
int scanmill_clone_file(int from, int to);

/* Writes the first `bytes` bytes of `from` (INT64_MAX: all) at the offset of `to`, inside the kernel. 0, or errno;
   ENODATA: `from` has fewer. */
int scanmill_copy_file(int from, int to, int64_t bytes);
