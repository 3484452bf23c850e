#pragma once
#include <sys/types.h>

/*
 * Makes every thread of this process that is asked to (`scanmill_ask_for_stack`) write its stack to standard
 * error, in one piece:
 *
 *   thread 4711 (name) at
 *     /path/of/module+0x1234 symbol+0x12
 *
 * The number behind the module is the address in its file, as addr2line takes it.
 *
 * The signal is SIGPROF: threads of libdispatch block nearly all others. The handler allocates nothing and takes
 * no lock before the first write.
 */
void scanmill_tell_stacks(void);

/* The number of that signal. */
int scanmill_stack_signal(void);

/* Asks a thread of a process for it. 0 or errno. */
int scanmill_ask_for_stack(pid_t process, pid_t thread);

/* For tests: a thread of this process that gets SIGSYS never goes on. `spins`: it computes forever. */
void scanmill_freeze_on_request(int spins);

/* Sends SIGSYS to a thread of a process. 0 or errno. */
int scanmill_freeze(pid_t process, pid_t thread);
