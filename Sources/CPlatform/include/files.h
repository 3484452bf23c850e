#pragma once

/* Exchanges two paths of one file system in one step. 0, or errno: EINVAL and ENOSYS where the file
   system cannot (NFS). */
int scanmill_exchange_paths(const char *a, const char *b);

/* Renames `from` to `to`, which must not exist. 0, or errno (EEXIST). Falls back to a plain rename
   where the file system knows no flags. */
int scanmill_rename_new(const char *from, const char *to);

/* Flushes the file system that holds the open file or folder to disk. 0, or errno. */
int scanmill_sync_filesystem(int descriptor);

/* Asks the kernel to send `signal` to this process when its parent ends (prctl PR_SET_PDEATHSIG).
   0, or errno. */
int scanmill_die_with_parent(int signal);
