#define _GNU_SOURCE
#include "threads.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void scanmill_name_thread(const char *name, char *previous) {
  if (previous != NULL) (void)prctl(PR_GET_NAME, previous);
  (void)prctl(PR_SET_NAME, name);
}

int scanmill_threads_named(const char *name, int *numbers, int capacity) {
  DIR *threads = opendir("/proc/self/task");
  if (threads == NULL) return 0;
  int count = 0;
  int self = (int)syscall(SYS_gettid);
  for (struct dirent *entry; count < capacity && (entry = readdir(threads)) != NULL;) {
    int number = (int)strtol(entry->d_name, NULL, 10);
    if (number <= 0 || number == self) continue;
    char path[64], text[32];
    snprintf(path, sizeof path, "/proc/self/task/%d/comm", number);
    FILE *file = fopen(path, "re");
    if (file == NULL) continue;
    if (fgets(text, sizeof text, file) != NULL) {
      text[strcspn(text, "\n")] = 0;
      if (strcmp(text, name) == 0) numbers[count++] = number;
    }
    fclose(file);
  }
  closedir(threads);
  return count;
}

int64_t scanmill_thread_cpu_nanoseconds(int number) {
  /* The kernel's own layout of a thread's clock (include/linux/posix-timers.h): the complement of the number,
   * "of one thread" 4, scheduler time 2. pthread_getcpuclockid makes the same of a pthread_t. */
  struct timespec time;
  if (clock_gettime((clockid_t)((~(unsigned int)number << 3) | 6), &time) != 0) return -1;
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}
