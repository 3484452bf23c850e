#define _GNU_SOURCE
#include "niceness.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* linux/ioprio.h, which not every system has: IOPRIO_WHO_PROCESS, IOPRIO_CLASS_IDLE << 13. */
enum { io_of_process = 1, io_idle = 3 << 13 };

static void lower_thread(id_t thread) {
  (void)setpriority(PRIO_PROCESS, thread, 19);
  (void)syscall(SYS_ioprio_set, io_of_process, (int)thread, io_idle);
}

/*
 * Threads of libraries set their own priority (libdispatch asks for nice 0 and -4), which root may. Without
 * the capability they stay where they are.
 */
static void give_up_priority(void) {
  struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
  if (syscall(SYS_capget, &head, data) != 0) return;
  data[0].effective &= ~(1u << CAP_SYS_NICE);
  data[0].permitted &= ~(1u << CAP_SYS_NICE);
  data[0].inheritable &= ~(1u << CAP_SYS_NICE);
  (void)syscall(SYS_capset, &head, data);
}

void scanmill_lower_priority(void) {
  /* Linux has both per thread; new threads inherit those of their creator. */
  DIR *threads = opendir("/proc/self/task");
  if (threads != NULL) {
    for (struct dirent *entry; (entry = readdir(threads)) != NULL;) {
      long thread = strtol(entry->d_name, NULL, 10);
      if (thread > 0) lower_thread((id_t)thread);
    }
    closedir(threads);
  } else {
    lower_thread(0);
  }
  give_up_priority();
  int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (score >= 0) {
    (void)!write(score, "1000", 4);
    close(score);
  }
}

int scanmill_memory_file(void) { return memfd_create("scanmill", MFD_CLOEXEC); }
