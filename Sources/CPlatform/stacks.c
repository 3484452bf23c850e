#define _GNU_SOURCE
#include "stacks.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <link.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { depth = 64, text_bytes = 12288, line_bytes = 400 };

/* Builds text without stdio, whose lock may be held by a stuck thread. */
typedef struct {
  char bytes[text_bytes];
  size_t count;
} text;

static void add(text *t, const char *words) {
  for (; *words != 0 && t->count < sizeof t->bytes; words++) t->bytes[t->count++] = *words;
}

static void add_number(text *t, uintptr_t value, unsigned base) {
  char digits[32];
  size_t at = sizeof digits;
  digits[--at] = 0;
  do {
    digits[--at] = "0123456789abcdef"[value % base];
    value /= base;
  } while (value != 0);
  add(t, digits + at);
}

static void tell_stack(int number) {
  (void)number;
  int code = errno;
  void *addresses[depth];
  text t = {.count = 0};
  char name[17] = {0};
  prctl(PR_GET_NAME, name);
  add(&t, "  thread ");
  add_number(&t, (uintptr_t)syscall(SYS_gettid), 10);
  add(&t, " (");
  add(&t, name);
  add(&t, ") at\n");
  int count = backtrace(addresses, depth);
  /* The first is this function, the second the return from the signal. */
  for (int i = 2; i < count && t.count + line_bytes < sizeof t.bytes; i++) {
    struct dl_find_object found;
    add(&t, "    ");
    if (_dl_find_object(addresses[i], &found) == 0 && found.dlfo_link_map != NULL) {
      const char *module = found.dlfo_link_map->l_name;
      add(&t, module != NULL && module[0] != 0 ? module : "scanmill");
      add(&t, "+0x");
      add_number(&t, (uintptr_t)addresses[i] - found.dlfo_link_map->l_addr, 16);
    } else {
      add(&t, "0x");
      add_number(&t, (uintptr_t)addresses[i], 16);
    }
    add(&t, "\n");
  }
  (void)!write(STDERR_FILENO, t.bytes, t.count);
  errno = code;
}

void scanmill_tell_stacks(void) {
  /* The first call loads a library, which a handler must not. */
  void *first[4];
  (void)backtrace(first, 4);
  struct sigaction action = {.sa_handler = tell_stack, .sa_flags = SA_RESTART};
  sigaction(SIGPROF, &action, NULL);
}

int scanmill_stack_signal(void) { return SIGPROF; }

static int send_to(pid_t process, pid_t thread, int number) {
  return syscall(SYS_tgkill, process, thread, number) == 0 ? 0 : errno;
}

int scanmill_ask_for_stack(pid_t process, pid_t thread) { return send_to(process, thread, SIGPROF); }

static void stay(int number) {
  (void)number;
  while (1) pause();
}

static void spin(int number) {
  for (volatile int turns = 0; number != 0;) turns = !turns;
}

void scanmill_freeze_on_request(int spins) {
  struct sigaction action = {.sa_handler = spins ? spin : stay};
  sigaction(SIGSYS, &action, NULL);
}

int scanmill_freeze(pid_t process, pid_t thread) { return send_to(process, thread, SIGSYS); }
