#pragma once
#include <stdint.h>
#include <sys/types.h>

/* The arguments of main, as the system handed them over: their number, and where they stand. */
int scanmill_arguments(const char *const **arguments);

/* A program to start. */
typedef struct {
  const char *executable;
  char *const *arguments;   /* argv, ends with NULL */
  char *const *environment; /* ends with NULL; NULL = that of this process */
  const char *folder;       /* working folder; NULL = that of this process */
  int input, output, error; /* descriptors for 0, 1 and 2; -1 = /dev/null */
  int own_group;            /* whether it leads a process group of its own */
  int death_signal;         /* sent to it when the starting thread ends; 0 = none */
  uint64_t data_limit;      /* RLIMIT_DATA in bytes; 0 = as it is */
  uint64_t descriptor_limit; /* soft RLIMIT_NOFILE; 0 = as it is */
  int guarded; /* whether a process in between ends all that it has started when it ends, when the
                  starting thread ends and on SIGUSR1, also what has left its group or session (it is
                  their reaper); SIGTERM goes on to its group */
  int spares_daemons; /* of a guarded one: what has left its group or session goes on */
} scanmill_program;

/*
 * Starts a program with default signal handling. Nothing between fork and exec allocates or locks, so
 * that other threads do not matter, and no Swift runs there: its locks know threads by numbers that a forked
 * process takes over and that are wrong in it. 0 and the process number, or the errno of what failed, in the child
 * (executable not found, folder not there) as well.
 */
int scanmill_start(const scanmill_program *program, pid_t *process);

/* How a process ended, and the resources used by it and the processes that it waited for. */
typedef struct {
  int exit_code;    /* -1 when a signal ended it */
  int signal;       /* 0 when it exited */
  double user_seconds;
  double system_seconds;
  int64_t peak_memory_bytes; /* of the largest of them */
} scanmill_end;

/* Waits for a child. 0 or errno. */
int scanmill_wait(pid_t process, scanmill_end *end);

/* The same without waiting: -1 while it runs. */
int scanmill_look(pid_t process, scanmill_end *end);

/* The soft and hard limit of open descriptors. */
typedef struct {
  uint64_t soft, hard;
} scanmill_limit;
scanmill_limit scanmill_descriptor_limit(void);
/* Sets the soft one. 0 or errno. */
int scanmill_set_descriptor_limit(uint64_t soft);
/* The soft limit of processes of this user; UINT64_MAX = none. */
uint64_t scanmill_process_limit(void);

/* RLIMIT_AS in bytes; UINT64_MAX where there is none. */
uint64_t scanmill_address_space_limit(void);

/* How many arenas threads allocate from, if the C library has any; of effect before the first of them allocates. */
void scanmill_limit_arenas(int most);

/* Whether a signal is ignored. */
int scanmill_is_ignored(int number);

/* A pipe that programs started meanwhile do not inherit: [0] to read, [1] to write. 0 or errno. */
int scanmill_pipe(int ends[2]);

/* A socket pair that programs started meanwhile do not inherit. 0 or errno. */
int scanmill_socket_pair(int ends[2]);

/* Sends a descriptor to the other end, together with one byte. 0 or errno. */
int scanmill_send_descriptor(int socket, int descriptor);

/* Waits for a descriptor. 0, -1 at the end of the stream, or errno: ENOTSOCK for other files. */
int scanmill_take_descriptor(int socket, int *descriptor);

/* Whether reading would not block, which is also true at the end of a stream. */
int scanmill_is_readable(int descriptor);
