#define _GNU_SOURCE
#include "prepared.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "adopt.h"

#ifndef PR_GET_TID_ADDRESS
#define PR_GET_TID_ADDRESS 40
#endif

/* What precedes the strings of a message. */
typedef struct {
  int32_t is_start, own_group, death_signal, arguments;
  uint64_t data_limit, descriptor_limit;
} head;

enum { passed = 4 }; /* descriptors: 0, 1, 2 and the report */

/* What a new process says of itself. */
typedef struct {
  int32_t process, code;
} presence;

/* In the prepared process: who has forked it off, and the name that both have. */
static pid_t preparer;
static char name[16];

/* Threads of this process; 0 when that cannot be told. */
static int thread_count(void) {
  struct stat tasks;
  if (stat("/proc/self/task", &tasks) != 0 || tasks.st_nlink < 3) return 0;
  return (int)tasks.st_nlink - 2;
}

/* MARK: in the process that prepares */

/* Closes what an executed program would not have, but `kept`. */
static int close_private(int kept) {
  DIR *open_ones = opendir("/proc/self/fd");
  if (open_ones == NULL) return -1;
  for (struct dirent *entry; (entry = readdir(open_ones)) != NULL;) {
    int number = (int)strtol(entry->d_name, NULL, 10);
    if (entry->d_name[0] == '.' || number <= 2 || number == kept || number == dirfd(open_ones)) continue;
    int flags = fcntl(number, F_GETFD);
    if (flags >= 0 && (flags & FD_CLOEXEC) != 0) close(number);
  }
  closedir(open_ones);
  return 0;
}

int scanmill_prepare(int *connection, pid_t *process) {
  int ends[2];
  if (thread_count() != 1) {
    errno = EAGAIN;
    return -1;
  }
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return -1;
  scanmill_program program = {
    .input = -1, .output = -1, .error = -1, .own_group = 1, .death_signal = SIGKILL};
  preparer = getpid();
  prctl(PR_GET_NAME, name);
  pid_t child = fork();
  if (child < 0) {
    int code = errno;
    close(ends[0]);
    close(ends[1]);
    errno = code;
    return -1;
  }
  if (child > 0) {
    close(ends[1]);
    *connection = ends[0];
    *process = child;
    return 0;
  }
  close(ends[0]);
  if (scanmill_adopt(&program, preparer) != 0 || close_private(ends[1]) != 0) _exit(127);
  prctl(PR_SET_NAME, "scanmill-spare");
  *connection = ends[1];
  *process = getpid();
  return 1;
}

void scanmill_warm(int connection) {
  head h = {0};
  (void)!send(connection, &h, sizeof h, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Waits until something can be read; -1 when nothing comes. */
static int wait_to_read(int descriptor, int seconds) {
  struct pollfd wanted = {descriptor, POLLIN, 0};
  for (int i = 0; i < seconds; i++) {
    int ready = poll(&wanted, 1, 1000);
    if (ready > 0) return 0;
    if (ready < 0 && errno != EINTR) return -1;
  }
  return -1;
}

int scanmill_start_prepared(
  int connection, const scanmill_program *program, const char *text, size_t count,
  size_t arguments, int seconds, pid_t *process) {
  int report[2];
  if (count > scanmill_message_bytes) return -1;
  if (pipe2(report, O_CLOEXEC) != 0) return errno;
  head h = {
    1, program->own_group, program->death_signal, (int32_t)arguments, program->data_limit,
    program->descriptor_limit};
  struct iovec pieces[2] = {{&h, sizeof h}, {(void *)text, count}};
  union {
    char bytes[CMSG_SPACE(sizeof(int) * passed)];
    struct cmsghdr alignment;
  } control;
  memset(&control, 0, sizeof control);
  struct msghdr message = {
    .msg_iov = pieces, .msg_iovlen = 2, .msg_control = control.bytes,
    .msg_controllen = sizeof control.bytes};
  struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof(int) * passed);
  int descriptors[passed] = {program->input, program->output, program->error, report[1]};
  memcpy(CMSG_DATA(rights), descriptors, sizeof descriptors);
  ssize_t sent = sendmsg(connection, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  close(report[1]);
  presence answer;
  ssize_t got = -1;
  /* The end of the pipe without an answer: whoever had the other end is gone. */
  if (sent >= 0 && wait_to_read(report[0], seconds) == 0) {
    do {
      got = read(report[0], &answer, sizeof answer);
    } while (got < 0 && errno == EINTR);
  }
  close(report[0]);
  if (got != (ssize_t)sizeof answer) return -1;
  if (answer.code != 0) {
    while (waitpid(answer.process, NULL, 0) < 0 && errno == EINTR) {
    }
    return answer.code;
  }
  *process = answer.process;
  return 0;
}

/* MARK: in the prepared process */

enum scanmill_order scanmill_next_order(int connection, scanmill_message *order) {
  head h;
  struct iovec pieces[2] = {{&h, sizeof h}, {order->text, scanmill_message_bytes}};
  union {
    char bytes[CMSG_SPACE(sizeof(int) * passed)];
    struct cmsghdr alignment;
  } control;
  struct msghdr message = {
    .msg_iov = pieces, .msg_iovlen = 2, .msg_control = control.bytes,
    .msg_controllen = sizeof control.bytes};
  ssize_t got;
  do {
    got = recvmsg(connection, &message, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got < (ssize_t)sizeof h || (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0)
    return scanmill_order_none;
  if (!h.is_start) return scanmill_order_warm;
  struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
  if (rights == NULL || rights->cmsg_type != SCM_RIGHTS
      || rights->cmsg_len != CMSG_LEN(sizeof(int) * passed))
    return scanmill_order_none;
  int descriptors[passed];
  memcpy(descriptors, CMSG_DATA(rights), sizeof descriptors);
  order->program = (scanmill_program){
    .input = descriptors[0], .output = descriptors[1], .error = descriptors[2],
    .own_group = h.own_group, .death_signal = h.death_signal, .data_limit = h.data_limit,
    .descriptor_limit = h.descriptor_limit};
  order->report = descriptors[3];
  order->count = (size_t)got - sizeof h;
  order->arguments = (size_t)h.arguments;
  return scanmill_order_start;
}

/*
 * What fork does, but for a brother: CLONE_PARENT, which fork does not offer. The C library keeps the thread's
 * number and the list of its robust mutexes; both are brought up to date as fork does it. All else that fork
 * cares for is locks of other threads, of which there are none.
 */
static pid_t fork_brother(void) {
  int *number = NULL;
  void *list = NULL;
  size_t list_bytes = 0;
  if (prctl(PR_GET_TID_ADDRESS, &number, 0, 0, 0) != 0 || number == NULL) return -1;
  if (syscall(SYS_get_robust_list, 0, &list, &list_bytes) != 0) return -1;
  unsigned long flags = CLONE_PARENT | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD;
#if defined(__x86_64__)
  long child = syscall(SYS_clone, flags, NULL, NULL, number, 0UL);
#else
  long child = syscall(SYS_clone, flags, NULL, NULL, 0UL, number);
#endif
  if (child == 0 && list != NULL) syscall(SYS_set_robust_list, list, list_bytes);
  return (pid_t)child;
}

int scanmill_fork_prepared(int connection, scanmill_message *order) {
  scanmill_program *program = &order->program;
  int given[passed] = {program->input, program->output, program->error, order->report};
  pid_t child = thread_count() == 1 ? fork_brother() : (errno = EAGAIN, -1);
  if (child != 0) {
    int code = errno;
    for (int i = 0; i < passed; i++) close(given[i]);
    errno = code;
    return child > 0 ? 0 : -1;
  }
  prctl(PR_SET_NAME, name);
  presence here = {getpid(), 0};
  if (scanmill_adopt(program, preparer) != 0) here.code = errno != 0 ? errno : EINVAL;
  ssize_t told = write(order->report, &here, sizeof here);
  if (here.code != 0 || told != (ssize_t)sizeof here) _exit(127);
  for (int i = 0; i < passed; i++) {
    if (given[i] > 2) close(given[i]);
  }
  close(connection);
  return 1;
}

void scanmill_show_arguments(char **arguments, int count, const char *text, size_t bytes) {
  if (count < 1) return;
  char *end = arguments[0] + strlen(arguments[0]) + 1;
  char *words = end;
  for (int i = 1; i < count && arguments[i] == end; i++) end += strlen(end) + 1;
  if ((size_t)(end - words) < bytes) return;
  memset(words, 0, (size_t)(end - words));
  memcpy(words, text, bytes);
}
