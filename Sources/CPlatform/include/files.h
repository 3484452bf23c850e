#pragma once

#include <stdint.h>

/* Exchanges two names in open folders of one file system in one step. 0, or errno: EINVAL and ENOSYS where
   the file system cannot (NFS). */
int scanmill_exchange_entries(int a_folder, const char *a, int b_folder, const char *b);

/* Renames `from` to `to`, which must not exist. 0, or errno (EEXIST). Falls back to a plain rename
   where the file system knows no flags. */
int scanmill_rename_new_entry(int from_folder, const char *from, int to_folder, const char *to);

/* Whether something is mounted at the open folder; 0 also where the kernel cannot tell. */
int scanmill_is_mount_root(int folder);

/* The type of the file system of an open folder, as linux/magic.h has it; -1 if it is not known. */
int64_t scanmill_file_system_type(int folder);

/* Flushes the file system that holds the open file or folder to disk. 0, or errno. */
int scanmill_sync_filesystem(int descriptor);

/* Asks for the blocks of a file that is about to be written in one piece: a quarter less CPU time for the write on
   ext4. What a file system cannot, and what is too much, the write itself will tell. */
void scanmill_expect_bytes(int file, int64_t bytes);

/* Starts writing a piece of a file to disk without waiting for it, so that nothing is left to be written when the
   file system is flushed. Errors are told by that flush. */
void scanmill_start_writing_back(int file, int64_t offset, int64_t bytes);
