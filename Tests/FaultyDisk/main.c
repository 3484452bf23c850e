// A file system whose calls fail as a test asks for: it shows FOLDER at PLACE, by the protocol of the kernel (FUSE)
// itself, which needs no library. The kernel keeps neither names nor attributes, and drops a file's pages when it is
// opened, so that every call of a program arrives here; what is mapped and cannot be read ends in SIGBUS.
//
//     faultydisk FOLDER PLACE [caseless]
//
// A caseless one keeps the case of ASCII letters in names and does not tell names apart by it, as disks of Macs and of
// Windows do. FOLDER must not hold two such names.
//
// It prints "ready" when PLACE is mounted, and then answers each line of its standard input with one:
//
//     fail CALL ERROR SKIP TIMES PATTERN   of the calls of this name whose path below FOLDER matches, leave out SKIP,
//                                          then let TIMES fail with the error number (0: all); answers "ok".
//                                          A pattern is one of the shell, or ends with "**": all below a folder
//     lose CALL ERROR SKIP TIMES PATTERN   the same, but what was called for is done, and only its answer is an error:
//                                          a server that went away between the two
//     heal                                 no call fails any more; answers how many did, and the path of the first
//     calls                                a line "CALL PATH" for each call since the last `heal`, then an empty line
//
// The end of its input ends it and the mount. Everything runs in one thread: no call overtakes another.

#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <linux/fuse.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

enum { most_data = 1 << 20, buckets = 4096, most_rules = 8 };

/// A file or folder that the kernel knows, held by a descriptor: a rename does not lose it.
struct node {
  int fd;
  dev_t device;
  ino_t inode;
  uint64_t lookups;
  struct node *next;
};

struct rule {
  char call[16];
  int error;
  long skip;
  long times;
  bool is_done;
  char pattern[512];
};

static struct node *nodes[buckets];
static struct node root;
static int channel;
static char base[PATH_MAX];
static bool is_caseless;
static struct rule rules[most_rules];
static int rule_count;
static long failed;
/// The answer of the request at hand in place of success; 0: its own.
static int lost;
static char first_failed[2 * PATH_MAX];
static char *calls;
static size_t calls_used, calls_room;

static void die(const char *what) {
  perror(what);
  exit(1);
}

// Paths, as rules and answers name them.

static void path_of(int fd, char path[PATH_MAX]) {
  char link[32];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  char whole[PATH_MAX];
  ssize_t length = readlink(link, whole, sizeof whole - 1);
  whole[length < 0 ? 0 : length] = 0;
  size_t skipped = strlen(base);
  snprintf(path, PATH_MAX, "%s", strncmp(whole, base, skipped) == 0 ? whole + skipped : whole);
}

static void note(const char *call, const char *path) {
  size_t needed = calls_used + strlen(call) + strlen(path) + 3;
  if (needed > calls_room) {
    calls_room = needed * 2;
    calls = realloc(calls, calls_room);
    if (!calls) die("realloc");
  }
  calls_used += (size_t)sprintf(calls + calls_used, "%s %s\n", call, path);
}

static bool matches(const char *pattern, const char *path) {
  size_t length = strlen(pattern);
  if (length >= 2 && strcmp(pattern + length - 2, "**") == 0) {
    return strncmp(pattern, path, length - 2) == 0;
  }
  return fnmatch(pattern, path, FNM_PATHNAME) == 0;
}

/// The error of a call, 0 if it is to be carried out. `name`: in the folder `fd`; NULL: `fd` itself.
static int fault(const char *call, int fd, const char *name) {
  char path[PATH_MAX], full[2 * PATH_MAX];
  path_of(fd, path);
  snprintf(full, sizeof full, name ? "%s/%s" : "%s", path, name);
  note(call, full);
  for (int i = 0; i < rule_count; i++) {
    struct rule *rule = &rules[i];
    if (strcmp(rule->call, call) != 0 || !matches(rule->pattern, full)) continue;
    if (rule->skip > 0) {
      rule->skip--;
      continue;
    }
    if (rule->times == 0) continue;
    if (rule->times > 0) rule->times--;
    if (failed++ == 0) strcpy(first_failed, full);
    if (!rule->is_done) return rule->error;
    lost = rule->error;
    return 0;
  }
  return 0;
}

// Nodes.

static struct node *node_of(uint64_t id) {
  return id == FUSE_ROOT_ID ? &root : (struct node *)(uintptr_t)id;
}

static size_t bucket(dev_t device, ino_t inode) { return (device * 31 + inode) % buckets; }

/// Takes `fd`.
static struct node *keep(int fd, const struct stat *status) {
  struct node **list = &nodes[bucket(status->st_dev, status->st_ino)];
  for (struct node *node = *list; node; node = node->next) {
    if (node->inode == status->st_ino && node->device == status->st_dev) {
      close(fd);
      node->lookups++;
      return node;
    }
  }
  struct node *node = malloc(sizeof *node);
  if (!node) die("malloc");
  *node = (struct node){fd, status->st_dev, status->st_ino, 1, *list};
  *list = node;
  return node;
}

static void forget(uint64_t id, uint64_t count) {
  struct node *node = node_of(id);
  if (node == &root || (node->lookups -= count) > 0) return;
  struct node **place = &nodes[bucket(node->device, node->inode)];
  while (*place != node) place = &(*place)->next;
  *place = node->next;
  close(node->fd);
  free(node);
}

/// Names a held file in calls that know no descriptor of a path only.
static const char *proc_path(int fd) {
  static char path[32];
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  return path;
}

/// A name as the folder has it, if that differs by case only; else the name itself. Valid until the next call.
static const char *held_name(int folder, const char *name) {
  static char held[NAME_MAX + 1];
  if (!is_caseless || faccessat(folder, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0) return name;
  int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *names = fd < 0 ? NULL : fdopendir(fd);
  if (!names) return name;
  struct dirent *found;
  while ((found = readdir(names))) {
    if (strcasecmp(found->d_name, name) != 0) continue;
    snprintf(held, sizeof held, "%s", found->d_name);
    name = held;
    break;
  }
  closedir(names);
  return name;
}

// Answers.

static void answer(uint64_t unique, int error, const void *data, size_t size) {
  if (!error) error = lost;
  struct fuse_out_header header = {
    .len = (uint32_t)(sizeof header + (error ? 0 : size)), .error = -error, .unique = unique};
  struct iovec parts[2] = {{&header, sizeof header}, {(void *)data, error ? 0 : size}};
  // ENOENT: the caller was killed meanwhile.
  if (writev(channel, parts, 2) < 0 && errno != ENOENT && errno != ENODEV) perror("answer");
}

static struct fuse_attr attributes(const struct stat *status) {
  return (struct fuse_attr){
    .ino = status->st_ino,
    .size = (uint64_t)status->st_size,
    .blocks = (uint64_t)status->st_blocks,
    .atime = (uint64_t)status->st_atim.tv_sec,
    .atimensec = (uint32_t)status->st_atim.tv_nsec,
    .mtime = (uint64_t)status->st_mtim.tv_sec,
    .mtimensec = (uint32_t)status->st_mtim.tv_nsec,
    .ctime = (uint64_t)status->st_ctim.tv_sec,
    .ctimensec = (uint32_t)status->st_ctim.tv_nsec,
    .mode = status->st_mode,
    .nlink = (uint32_t)status->st_nlink,
    .uid = status->st_uid,
    .gid = status->st_gid,
    .rdev = (uint32_t)status->st_rdev,
    .blksize = (uint32_t)status->st_blksize,
  };
}

/// What stands behind a name of a folder; an error number, 0 if there is none.
static int find(int folder, const char *name, struct fuse_entry_out *entry) {
  int fd = openat(folder, held_name(folder, name), O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return errno;
  struct stat status;
  if (fstat(fd, &status) < 0) {
    int error = errno;
    close(fd);
    return error;
  }
  *entry = (struct fuse_entry_out){
    .nodeid = (uintptr_t)keep(fd, &status), .attr = attributes(&status)};
  return 0;
}

static void answer_entry(uint64_t unique, int error, int folder, const char *name) {
  struct fuse_entry_out entry;
  if (!error) error = find(folder, name, &entry);
  answer(unique, error, &entry, sizeof entry);
}

static void answer_attributes(uint64_t unique, int error, int fd) {
  struct stat status;
  if (!error && fstat(fd, &status) < 0) error = errno;
  struct fuse_attr_out out = {0};
  if (!error) out.attr = attributes(&status);
  answer(unique, error, &out, sizeof out);
}

static int outcome(int result) { return result < 0 ? errno : 0; }

// Calls.

static void open_file(uint64_t unique, int fd, uint32_t flags) {
  int error = fault("open", fd, NULL);
  int file = -1;
  if (!error) {
    // Pages of a file that is open for writing alone are read by the kernel.
    int mode = (flags & O_ACCMODE) == O_WRONLY ? O_RDWR : (int)(flags & O_ACCMODE);
    file = open(proc_path(fd), mode | O_CLOEXEC);
    if (file < 0) error = errno;
  }
  struct fuse_open_out out = {.fh = (uint64_t)file};
  answer(unique, error, &out, sizeof out);
}

static void create(uint64_t unique, int folder, const struct fuse_create_in *in) {
  const char *name = (const char *)(in + 1);
  int error = fault("create", folder, name);
  struct {
    struct fuse_entry_out entry;
    struct fuse_open_out open;
  } out = {0};
  if (!error) {
    int mode = (in->flags & O_ACCMODE) == O_RDONLY ? O_RDONLY : O_RDWR;
    int flags = mode | O_CREAT | O_NOFOLLOW | O_CLOEXEC | (int)(in->flags & O_EXCL);
    int file = openat(folder, held_name(folder, name), flags, in->mode);
    if (file < 0) {
      error = errno;
    } else if (!(error = find(folder, name, &out.entry))) {
      out.open.fh = (uint64_t)file;
    } else {
      close(file);
    }
  }
  answer(unique, error, &out, sizeof out);
}

static void set_attributes(uint64_t unique, int fd, const struct fuse_setattr_in *in) {
  const char *call = in->valid & FATTR_SIZE ? "truncate" : in->valid & FATTR_MODE ? "chmod"
    : in->valid & (FATTR_UID | FATTR_GID) ? "chown" : "utimes";
  int error = fault(call, fd, NULL);
  const char *path = proc_path(fd);
  if (!error && in->valid & FATTR_SIZE) {
    error = outcome(in->valid & FATTR_FH ? ftruncate((int)in->fh, (off_t)in->size)
                                         : truncate(path, (off_t)in->size));
  }
  if (!error && in->valid & FATTR_MODE) error = outcome(chmod(path, in->mode & 07777));
  if (!error && in->valid & (FATTR_UID | FATTR_GID)) {
    uid_t user = in->valid & FATTR_UID ? in->uid : (uid_t)-1;
    error = outcome(chown(path, user, in->valid & FATTR_GID ? in->gid : (gid_t)-1));
  }
  if (!error && in->valid & (FATTR_ATIME | FATTR_MTIME)) {
    struct timespec times[2] = {
      {in->atime, in->valid & FATTR_ATIME_NOW ? UTIME_NOW : (long)in->atimensec},
      {in->mtime, in->valid & FATTR_MTIME_NOW ? UTIME_NOW : (long)in->mtimensec}};
    if (!(in->valid & FATTR_ATIME)) times[0].tv_nsec = UTIME_OMIT;
    if (!(in->valid & FATTR_MTIME)) times[1].tv_nsec = UTIME_OMIT;
    error = outcome(utimensat(AT_FDCWD, path, times, 0));
  }
  answer_attributes(unique, error, fd);
}

static void read_file(uint64_t unique, const struct fuse_read_in *in) {
  static char data[most_data];
  int file = (int)in->fh;
  int error = fault("read", file, NULL);
  ssize_t count = 0;
  if (!error) {
    count = pread(file, data, in->size < most_data ? in->size : most_data, (off_t)in->offset);
    error = outcome((int)(count < 0 ? -1 : 0));
  }
  answer(unique, error, data, (size_t)(count < 0 ? 0 : count));
}

static void write_file(uint64_t unique, const struct fuse_write_in *in) {
  int file = (int)in->fh;
  int error = fault("write", file, NULL);
  struct fuse_write_out out = {0};
  if (!error) {
    ssize_t count = pwrite(file, in + 1, in->size, (off_t)in->offset);
    if (count < 0) error = errno;
    else out.size = (uint32_t)count;
  }
  answer(unique, error, &out, sizeof out);
}

static void open_folder(uint64_t unique, int fd) {
  int error = fault("opendir", fd, NULL);
  DIR *folder = NULL;
  if (!error) {
    int file = open(proc_path(fd), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    folder = file < 0 ? NULL : fdopendir(file);
    if (!folder) error = errno;
  }
  struct fuse_open_out out = {.fh = (uintptr_t)folder};
  answer(unique, error, &out, sizeof out);
}

static void read_folder(uint64_t unique, const struct fuse_read_in *in) {
  static char data[1 << 16];
  DIR *folder = (DIR *)(uintptr_t)in->fh;
  int error = fault("readdir", dirfd(folder), NULL);
  size_t used = 0, room = in->size < sizeof data ? in->size : sizeof data;
  if (!error) seekdir(folder, (long)in->offset);
  while (!error) {
    errno = 0;
    struct dirent *found = readdir(folder);
    if (!found) {
      error = errno;
      break;
    }
    size_t length = strlen(found->d_name);
    size_t size = FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET + length);
    if (used + size > room) break;
    struct fuse_dirent *entry = (struct fuse_dirent *)(data + used);
    memset(entry, 0, size);
    entry->ino = found->d_ino;
    entry->off = (uint64_t)found->d_off;
    entry->namelen = (uint32_t)length;
    entry->type = found->d_type;
    memcpy(entry->name, found->d_name, length);
    used += size;
  }
  answer(unique, error, data, used);
}

static void rename_entry(
  uint64_t unique, int from, uint64_t target, uint32_t flags, const char *name
) {
  const char *new_name = name + strlen(name) + 1;
  int to = node_of(target)->fd;
  int error = fault("rename", from, name);
  char held[NAME_MAX + 1];
  snprintf(held, sizeof held, "%s", held_name(from, name));
  // A name may be given to what has it already, in another case.
  bool is_same = is_caseless && from == to && strcasecmp(held, new_name) == 0;
  if (!is_same) new_name = held_name(to, new_name);
  if (!error) error = outcome(renameat2(from, held, to, new_name, flags));
  answer(unique, error, NULL, 0);
}

static void give_space(uint64_t unique, int fd) {
  int error = fault("statfs", fd, NULL);
  struct statvfs space;
  if (!error && fstatvfs(fd, &space) < 0) error = errno;
  struct fuse_statfs_out out = {0};
  if (!error) {
    out.st = (struct fuse_kstatfs){
      .blocks = space.f_blocks, .bfree = space.f_bfree, .bavail = space.f_bavail,
      .files = space.f_files, .ffree = space.f_ffree, .bsize = (uint32_t)space.f_bsize,
      .namelen = (uint32_t)space.f_namemax, .frsize = (uint32_t)space.f_frsize};
  }
  answer(unique, error, &out, sizeof out);
}

static void begin(uint64_t unique, const struct fuse_init_in *in) {
  struct fuse_init_out out = {
    .major = FUSE_KERNEL_VERSION, .minor = FUSE_KERNEL_MINOR_VERSION,
    .max_readahead = in->max_readahead, .max_background = 16, .congestion_threshold = 12,
    .flags = in->flags & (FUSE_BIG_WRITES | FUSE_MAX_PAGES), .max_write = most_data,
    .time_gran = 1, .max_pages = most_data / 4096};
  answer(unique, 0, &out, sizeof out);
}

static void serve(const struct fuse_in_header *header) {
  const void *in = header + 1;
  const char *name = in;
  uint64_t unique = header->unique;
  int fd = header->opcode == FUSE_INIT || header->nodeid == 0 ? -1 : node_of(header->nodeid)->fd;
  int error;
  lost = 0;
  switch (header->opcode) {
  case FUSE_INIT: return begin(unique, in);
  case FUSE_FORGET: return forget(header->nodeid, ((const struct fuse_forget_in *)in)->nlookup);
  case FUSE_BATCH_FORGET: {
    const struct fuse_batch_forget_in *batch = in;
    const struct fuse_forget_one *one = (const void *)(batch + 1);
    for (uint32_t i = 0; i < batch->count; i++) forget(one[i].nodeid, one[i].nlookup);
    return;
  }
  case FUSE_INTERRUPT: return;
  case FUSE_DESTROY: return answer(unique, 0, NULL, 0);
  case FUSE_LOOKUP: return answer_entry(unique, fault("lookup", fd, name), fd, name);
  case FUSE_GETATTR: return answer_attributes(unique, fault("getattr", fd, NULL), fd);
  case FUSE_SETATTR: return set_attributes(unique, fd, in);
  case FUSE_READLINK: {
    char target[PATH_MAX];
    error = fault("readlink", fd, NULL);
    ssize_t length = error ? 0 : readlinkat(fd, "", target, sizeof target);
    return answer(unique, length < 0 ? errno : error, target, (size_t)(length < 0 ? 0 : length));
  }
  case FUSE_SYMLINK:
    error = fault("symlink", fd, name);
    if (!error) error = outcome(symlinkat(name + strlen(name) + 1, fd, held_name(fd, name)));
    return answer_entry(unique, error, fd, name);
  case FUSE_MKNOD: {
    const struct fuse_mknod_in *made = in;
    name = (const char *)(made + 1);
    error = fault("mknod", fd, name);
    if (!error) error = outcome(mknodat(fd, held_name(fd, name), made->mode, made->rdev));
    return answer_entry(unique, error, fd, name);
  }
  case FUSE_MKDIR: {
    const struct fuse_mkdir_in *made = in;
    name = (const char *)(made + 1);
    error = fault("mkdir", fd, name);
    if (!error) error = outcome(mkdirat(fd, held_name(fd, name), made->mode));
    return answer_entry(unique, error, fd, name);
  }
  case FUSE_UNLINK:
    error = fault("unlink", fd, name);
    return answer(unique, error ? error : outcome(unlinkat(fd, held_name(fd, name), 0)), NULL, 0);
  case FUSE_RMDIR:
    error = fault("rmdir", fd, name);
    if (!error) error = outcome(unlinkat(fd, held_name(fd, name), AT_REMOVEDIR));
    return answer(unique, error, NULL, 0);
  case FUSE_RENAME: {
    const struct fuse_rename_in *rename = in;
    return rename_entry(unique, fd, rename->newdir, 0, (const char *)(rename + 1));
  }
  case FUSE_RENAME2: {
    const struct fuse_rename2_in *rename = in;
    return rename_entry(unique, fd, rename->newdir, rename->flags, (const char *)(rename + 1));
  }
  case FUSE_LINK: {
    const struct fuse_link_in *link = in;
    name = (const char *)(link + 1);
    error = fault("link", fd, name);
    const char *old = proc_path(node_of(link->oldnodeid)->fd);
    if (!error) error = outcome(linkat(AT_FDCWD, old, fd, held_name(fd, name), AT_SYMLINK_FOLLOW));
    return answer_entry(unique, error, fd, name);
  }
  case FUSE_OPEN: return open_file(unique, fd, ((const struct fuse_open_in *)in)->flags);
  case FUSE_CREATE: return create(unique, fd, in);
  case FUSE_READ: return read_file(unique, in);
  case FUSE_WRITE: return write_file(unique, in);
  case FUSE_FLUSH: return answer(unique, fault("close", fd, NULL), NULL, 0);
  case FUSE_RELEASE:
    close((int)((const struct fuse_release_in *)in)->fh);
    return answer(unique, 0, NULL, 0);
  case FUSE_FSYNC: {
    const struct fuse_fsync_in *sync = in;
    error = fault("fsync", fd, NULL);
    if (!error) error = outcome(sync->fsync_flags & 1 ? fdatasync((int)sync->fh) : fsync((int)sync->fh));
    return answer(unique, error, NULL, 0);
  }
  case FUSE_OPENDIR: return open_folder(unique, fd);
  case FUSE_READDIR: return read_folder(unique, in);
  case FUSE_RELEASEDIR:
    closedir((DIR *)(uintptr_t)((const struct fuse_release_in *)in)->fh);
    return answer(unique, 0, NULL, 0);
  case FUSE_FSYNCDIR: {
    DIR *folder = (DIR *)(uintptr_t)((const struct fuse_fsync_in *)in)->fh;
    error = fault("fsyncdir", fd, NULL);
    return answer(unique, error ? error : outcome(fsync(dirfd(folder))), NULL, 0);
  }
  case FUSE_STATFS: return give_space(unique, fd);
  case FUSE_ACCESS: {
    error = fault("access", fd, NULL);
    int mask = (int)((const struct fuse_access_in *)in)->mask;
    return answer(unique, error ? error : outcome(access(proc_path(fd), mask)), NULL, 0);
  }
  case FUSE_FALLOCATE: {
    const struct fuse_fallocate_in *room = in;
    error = fault("fallocate", fd, NULL);
    if (!error) {
      error = outcome(fallocate(
        (int)room->fh, (int)room->mode, (off_t)room->offset, (off_t)room->length));
    }
    return answer(unique, error, NULL, 0);
  }
  case FUSE_LSEEK: {
    const struct fuse_lseek_in *seek = in;
    off_t place = lseek((int)seek->fh, (off_t)seek->offset, (int)seek->whence);
    struct fuse_lseek_out out = {.offset = (uint64_t)place};
    return answer(unique, place < 0 ? errno : 0, &out, sizeof out);
  }
  case FUSE_COPY_FILE_RANGE: {
    const struct fuse_copy_file_range_in *copy = in;
    error = fault("copy", fd, NULL);
    loff_t from = (loff_t)copy->off_in, to = (loff_t)copy->off_out;
    ssize_t count = error ? 0
      : copy_file_range((int)copy->fh_in, &from, (int)copy->fh_out, &to, copy->len, 0);
    struct fuse_write_out out = {.size = (uint32_t)(count < 0 ? 0 : count)};
    return answer(unique, count < 0 ? errno : error, &out, sizeof out);
  }
  // Among them locks and extended attributes: the kernel keeps the former, and programs do without the latter.
  default: return answer(unique, ENOSYS, NULL, 0);
  }
}

// What the test says.

static void obey(char *line) {
  struct rule rule = {0};
  char order[8];
  if (sscanf(line, "%7s %15s %d %ld %ld %511[^\n]", order, rule.call, &rule.error, &rule.skip,
        &rule.times, rule.pattern) == 6 && rule_count < most_rules) {
    rule.is_done = strcmp(order, "lose") == 0;
    if (rule.times == 0) rule.times = -1;
    rules[rule_count++] = rule;
    printf("ok\n");
  } else if (strcmp(line, "heal") == 0) {
    printf("%ld %s\n", failed, first_failed);
    rule_count = 0;
    failed = 0;
    first_failed[0] = 0;
    calls_used = 0;
  } else if (strcmp(line, "calls") == 0) {
    fwrite(calls, 1, calls_used, stdout);
    printf("\n");
  } else {
    printf("not understood: %s\n", line);
  }
  fflush(stdout);
}

/// Whether more may come.
static bool hear(void) {
  static char text[4096];
  static size_t used;
  ssize_t count = read(STDIN_FILENO, text + used, sizeof text - 1 - used);
  if (count <= 0) return false;
  used += (size_t)count;
  text[used] = 0;
  char *line = text, *end;
  while ((end = strchr(line, '\n'))) {
    *end = 0;
    obey(line);
    line = end + 1;
  }
  used -= (size_t)(line - text);
  memmove(text, line, used);
  return true;
}

int main(int count, char **words) {
  is_caseless = count == 4 && strcmp(words[3], "caseless") == 0;
  if (count != 3 && !is_caseless) {
    fprintf(stderr, "usage: faultydisk FOLDER PLACE [caseless]\n");
    return 64;
  }
  umask(0);
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  if (!realpath(words[1], base)) die(words[1]);
  root.fd = open(base, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (root.fd < 0) die(base);
  channel = open("/dev/fuse", O_RDWR | O_CLOEXEC);
  if (channel < 0) die("/dev/fuse");
  char options[128];
  snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=%u,group_id=%u,allow_other",
    channel, getuid(), getgid());
  if (mount("faultydisk", words[2], "fuse", MS_NOSUID | MS_NODEV, options) < 0) die(words[2]);
  printf("ready\n");
  fflush(stdout);

  static _Alignas(8) char request[most_data + 8192];
  struct pollfd waits[2] = {{.fd = channel, .events = POLLIN}, {.fd = STDIN_FILENO, .events = POLLIN}};
  for (;;) {
    if (poll(waits, 2, -1) < 0 && errno != EINTR) break;
    if (waits[1].revents && !hear()) break;
    if (waits[0].revents) {
      ssize_t size = read(channel, request, sizeof request);
      if (size < 0 && errno == ENODEV) break;
      if (size >= (ssize_t)sizeof(struct fuse_in_header)) serve((const void *)request);
    }
  }
  umount2(words[2], MNT_DETACH);
  return 0;
}
