#pragma once

/* Makes the open empty file `to` share the blocks of the open file `from`, copied when either is written
   (FICLONE). 0, or errno: EOPNOTSUPP, EXDEV, EINVAL, ENOTTY where the file system cannot. */
int scanmill_clone_file(int from, int to);

/* Appends all bytes of `from` to the empty file `to` inside the kernel. 0, or errno; EOPNOTSUPP, and nothing
   copied, where the kernel cannot between these two. */
int scanmill_copy_file(int from, int to);
