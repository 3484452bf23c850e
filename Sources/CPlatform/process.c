#define _GNU_SOURCE
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static int argument_count;
static char **argument_list;

/* glibc hands the arguments of main to constructors, too. */
__attribute__((constructor)) static void keep_arguments(int count, char **arguments) {
  argument_count = count;
  argument_list = arguments;
}

int scanmill_arguments(const char *const **arguments) {
  *arguments = (const char *const *)argument_list;
  return argument_list ? argument_count : 0;
}

/*
 * Makes this new process, which has one thread, what a program is to be before it is executed: signals as by
 * default, group, death with `parent`, limits, folder, standard descriptors. 0, or -1 with errno; ends the
 * process when `parent` is gone already. Everything from here to exec is async-signal-safe and writes to no memory
 * but its own stack: the new process may share its memory with the one that starts it.
 */
static int adopt(const scanmill_program *p, pid_t parent) {
  struct sigaction usual = {.sa_handler = SIG_DFL};
  for (int number = 1; number < NSIG; number++) {
    if (number != SIGKILL && number != SIGSTOP) sigaction(number, &usual, NULL);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  if ((p->own_group || p->guarded) && setpgid(0, 0) != 0) return -1;
  if (p->death_signal != 0 && !p->guarded) {
    if (prctl(PR_SET_PDEATHSIG, p->death_signal) != 0) return -1;
    if (getppid() != parent) _exit(127); /* it ended before we asked */
  }
  if (p->data_limit != 0) {
    struct rlimit limit = {p->data_limit, p->data_limit};
    if (setrlimit(RLIMIT_DATA, &limit) != 0) return -1;
  }
  if (p->descriptor_limit != 0) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && p->descriptor_limit < limit.rlim_cur) {
      limit.rlim_cur = p->descriptor_limit;
      if (setrlimit(RLIMIT_NOFILE, &limit) != 0) return -1;
    }
  }
  if (p->folder != NULL && chdir(p->folder) != 0) return -1;
  int given[3] = {p->input, p->output, p->error};
  int moved[3];
  /* First out of the way of 0, 1 and 2, then into place: the given ones may be these themselves. */
  for (int i = 0; i < 3; i++) {
    int from = given[i] >= 0 ? given[i] : open("/dev/null", (i == 0 ? O_RDONLY : O_WRONLY) | O_CLOEXEC);
    if (from < 0 || (moved[i] = fcntl(from, F_DUPFD_CLOEXEC, 3)) < 0) return -1;
    if (given[i] < 0) close(from);
  }
  for (int i = 0; i < 3; i++) {
    if (dup2(moved[i], i) < 0) return -1;
    close(moved[i]);
  }
  return 0;
}

/* Not inlined: what it does lies below the frame that the starting thread goes on with. */
__attribute__((noinline)) static void become(const scanmill_program *p, pid_t parent) {
  if (adopt(p, parent) != 0) return;
  execve(p->executable, p->arguments, p->environment != NULL ? p->environment : environ);
}

/* The process in between, of which there is one per fork: plain statics will do. */
static volatile pid_t guarded_program;

static void end_all(int number) {
  (void)number;
  if (guarded_program > 0) kill(-guarded_program, SIGKILL);
}

static void pass_on(int number) {
  if (guarded_program > 0) kill(-guarded_program, number);
}

/*
 * Kills the children of this process. -1 where the kernel does not list them. Reads and parses on the stack: this
 * process was forked from one of many threads.
 */
static int kill_children(void) {
  char list[4096];
  int file = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
  if (file < 0) return -1;
  ssize_t count = read(file, list, sizeof list);
  close(file);
  if (count < 0) return -1;
  /* Each number is followed by a blank; one that was cut is among the next. */
  pid_t number = 0;
  for (ssize_t i = 0; i < count; i++) {
    if (list[i] >= '0' && list[i] <= '9') {
      number = number * 10 + (list[i] - '0');
    } else {
      if (number > 1) kill(number, SIGKILL);
      number = 0;
    }
  }
  return 0;
}

/*
 * Ends all that the program has started and that outlived it: this process is their reaper, so that a child whose
 * parent has ended is its own, whatever session it is in. What the kernel does not end within five seconds is left.
 */
static void end_descendants(void) {
  const struct timespec pause = {0, 10 * 1000 * 1000};
  for (int round = 0; round < 500; round++) {
    int is_listed = kill_children() == 0;
    pid_t ended;
    while ((ended = waitpid(-1, NULL, WNOHANG)) > 0) {
    }
    if (ended < 0 && errno == ECHILD) return;
    if (!is_listed) return;
    nanosleep(&pause, NULL);
  }
}

/* Starts the program as a group of its own and stays until it has ended. */
static void stand_guard(const scanmill_program *p, pid_t parent, int report) {
  struct sigaction ending = {.sa_handler = end_all}, passing = {.sa_handler = pass_on};
  sigset_t held;
  sigfillset(&held);
  sigprocmask(SIG_SETMASK, &held, NULL);
  for (int number = 1; number < NSIG; number++) {
    if (number != SIGKILL && number != SIGSTOP) signal(number, SIG_DFL);
  }
  sigaction(SIGUSR1, &ending, NULL);
  sigaction(SIGTERM, &passing, NULL);
  signal(SIGINT, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
  if (setpgid(0, 0) != 0) return;
  if (p->death_signal != 0) {
    if (prctl(PR_SET_PDEATHSIG, SIGUSR1) != 0) return;
    if (getppid() != parent) _exit(127);
  }
  /* What leaves the group or the session comes back to this process when its parent ends. */
  if (!p->spares_daemons) prctl(PR_SET_CHILD_SUBREAPER, 1);
  /* Not fork: its handlers are not for a child of many threads. */
  pid_t program = _Fork();
  if (program < 0) return;
  if (program == 0) {
    become(p, getppid());
    int code = errno;
    (void)!write(report, &code, sizeof code);
    _exit(127);
  }
  /* Nothing of the process that started us stays open here: pipes and locks of its end with it. */
  if (close_range(3, ~0U, 0) != 0) {
    for (int descriptor = 3; descriptor < 1024; descriptor++) close(descriptor);
  }
  setpgid(program, program); /* whoever comes first */
  guarded_program = program;
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  int status;
  for (;;) {
    pid_t ended = waitpid(-1, &status, 0);
    if (ended == program) break;
    if (ended < 0 && errno != EINTR) _exit(127);
  }
  kill(-program, SIGKILL); /* what it has left behind */
  if (!p->spares_daemons) end_descendants();
  if (WIFSIGNALED(status)) {
    struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    signal(WTERMSIG(status), SIG_DFL);
    kill(getpid(), WTERMSIG(status));
  }
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 127);
}

int scanmill_start(const scanmill_program *program, pid_t *process) {
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) return errno;
  /* Out of the way of the standard descriptors, which the child replaces. */
  if (report[1] < 3) {
    int moved = fcntl(report[1], F_DUPFD_CLOEXEC, 3);
    if (moved < 0) {
      int code = errno;
      close(report[0]);
      close(report[1]);
      return code;
    }
    close(report[1]);
    report[1] = moved;
  }
  pid_t parent = getpid();
  /*
   * No handler of ours may run in the new process while it shares our memory. It lets go of the signals when all of
   * them have their default action.
   *
   * A guard stays as it is and needs memory of its own. All others are executed at once: what is shared until then
   * need not be copied, whose cost grows with what this process has in memory.
   */
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pid_t child = program->guarded ? fork() : vfork();
  if (child < 0) {
    int code = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(report[0]);
    close(report[1]);
    return code;
  }
  if (child == 0) {
    if (program->guarded) {
      stand_guard(program, parent, report[1]);
    } else {
      become(program, parent);
    }
    int code = errno;
    (void)!write(report[1], &code, sizeof code);
    _exit(127);
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  close(report[1]);
  int code = 0;
  ssize_t count;
  do {
    count = read(report[0], &code, sizeof code);
  } while (count < 0 && errno == EINTR);
  close(report[0]);
  if (count == (ssize_t)sizeof code) {
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {
    }
    return code;
  }
  *process = child;
  return 0;
}

static int end_of(pid_t process, int options, scanmill_end *end) {
  int status;
  struct rusage usage;
  pid_t found;
  while ((found = wait4(process, &status, options, &usage)) < 0) {
    if (errno != EINTR) return errno;
  }
  if (found == 0) return -1;
  end->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  end->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  end->user_seconds = (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6;
  end->system_seconds = (double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec / 1e6;
  end->peak_memory_bytes = (int64_t)usage.ru_maxrss * 1024;
  return 0;
}

int scanmill_wait(pid_t process, scanmill_end *end) { return end_of(process, 0, end); }

int scanmill_look(pid_t process, scanmill_end *end) { return end_of(process, WNOHANG, end); }

scanmill_limit scanmill_descriptor_limit(void) {
  struct rlimit limit;
  scanmill_limit result = {1024, 1024};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    result.soft = limit.rlim_cur;
    result.hard = limit.rlim_max;
  }
  return result;
}

int scanmill_set_descriptor_limit(uint64_t soft) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return errno;
  limit.rlim_cur = soft;
  return setrlimit(RLIMIT_NOFILE, &limit) == 0 ? 0 : errno;
}

uint64_t scanmill_process_limit(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NPROC, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return UINT64_MAX;
  return limit.rlim_cur;
}

int scanmill_is_ignored(int number) {
  struct sigaction action;
  return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

int scanmill_socket_pair(int ends[2]) {
  return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0 ? 0 : errno;
}

typedef union {
  char bytes[CMSG_SPACE(sizeof(int))];
  struct cmsghdr alignment;
} rights;

int scanmill_send_descriptor(int socket, int descriptor) {
  rights control;
  memset(&control, 0, sizeof control);
  char mark = 0;
  struct iovec piece = {&mark, 1};
  struct msghdr message = {
    .msg_iov = &piece, .msg_iovlen = 1, .msg_control = control.bytes,
    .msg_controllen = sizeof control.bytes};
  struct cmsghdr *head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(head), &descriptor, sizeof descriptor);
  ssize_t sent;
  do {
    sent = sendmsg(socket, &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent == 1 ? 0 : errno;
}

int scanmill_take_descriptor(int socket, int *descriptor) {
  rights control;
  char mark;
  struct iovec piece = {&mark, 1};
  struct msghdr message = {
    .msg_iov = &piece, .msg_iovlen = 1, .msg_control = control.bytes,
    .msg_controllen = sizeof control.bytes};
  ssize_t got;
  do {
    got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got < 0) return errno;
  if (got == 0) return -1;
  struct cmsghdr *head = CMSG_FIRSTHDR(&message);
  if (head == NULL || head->cmsg_type != SCM_RIGHTS || head->cmsg_len != CMSG_LEN(sizeof(int)))
    return EPROTO;
  memcpy(descriptor, CMSG_DATA(head), sizeof *descriptor);
  return 0;
}

int scanmill_is_readable(int descriptor) {
  struct pollfd wanted = {descriptor, POLLIN, 0};
  return poll(&wanted, 1, 0) > 0;
}

int scanmill_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC) == 0 ? 0 : errno; }

uint64_t scanmill_address_space_limit(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return UINT64_MAX;
  return limit.rlim_cur;
}

void scanmill_limit_arenas(int most) {
#ifdef M_ARENA_MAX
  (void)mallopt(M_ARENA_MAX, most);
#endif
}
