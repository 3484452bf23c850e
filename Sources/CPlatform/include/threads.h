#pragma once

#include <stdint.h>

/* Names the calling thread; threads that it makes from now on have the same name. `previous` takes what it was
 * called before, 16 bytes. */
void scanmill_name_thread(const char *name, char *previous);

/* Numbers of threads of this process with that name, the calling one left out; at most `capacity`. */
int scanmill_threads_named(const char *name, int *numbers, int capacity);

/* CPU time, user and system, of a thread of this process; -1 when it has ended. */
int64_t scanmill_thread_cpu_nanoseconds(int number);
