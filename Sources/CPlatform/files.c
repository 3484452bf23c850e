#define _GNU_SOURCE
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

int scanmill_exchange_entries(int a_folder, const char *a, int b_folder, const char *b) {
  return renameat2(a_folder, a, b_folder, b, RENAME_EXCHANGE) == 0 ? 0 : errno;
}

int scanmill_rename_new_entry(int from_folder, const char *from, int to_folder, const char *to) {
  if (renameat2(from_folder, from, to_folder, to, RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP) return errno;
  /* A plain rename would put a file over a file, and a folder over an empty one. */
  struct stat there;
  if (fstatat(to_folder, to, &there, AT_SYMLINK_NOFOLLOW) == 0) return EEXIST;
  if (errno != ENOENT) return errno;
  return renameat(from_folder, from, to_folder, to) == 0 ? 0 : errno;
}

int scanmill_is_mount_root(int folder) {
#ifdef STATX_ATTR_MOUNT_ROOT
  struct statx status;
  if (statx(folder, "", AT_EMPTY_PATH, STATX_TYPE, &status) != 0) return 0;
  return (status.stx_attributes_mask & status.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
#else
  (void)folder;
  return 0;
#endif
}

int64_t scanmill_file_system_type(int folder) {
  struct statfs status;
  return fstatfs(folder, &status) == 0 ? (int64_t)(uint32_t)status.f_type : -1;
}

int scanmill_sync_filesystem(int descriptor) { return syncfs(descriptor) == 0 ? 0 : errno; }

void scanmill_expect_bytes(int file, int64_t bytes) { (void)fallocate(file, 0, 0, bytes); }

void scanmill_start_writing_back(int file, int64_t offset, int64_t bytes) {
  (void)sync_file_range(file, offset, bytes, SYNC_FILE_RANGE_WRITE);
}
