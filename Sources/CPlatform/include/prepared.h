#pragma once
#include <stddef.h>
#include <sys/types.h>

#include "process.h"

/*
 * A process that was forked off while this program had one thread, and that forks itself for each order:
 * what it has loaded and prepared need not be loaded again. What it starts are children of the process that
 * forked it off, not its own.
 */

/* 1 in the new process, 0 in this one, or -1 with errno. `socket`: the end of a connection that either has.
   It ends with the thread that called this. Standard descriptors lead to /dev/null in the new one; those
   that programs would not inherit are closed there. */
int scanmill_prepare(int *socket, pid_t *process);

enum scanmill_order {
  scanmill_order_none,  /* the other end is closed, or nothing that could be understood came */
  scanmill_order_warm,  /* prepare now: an order will come */
  scanmill_order_start  /* start a process */
};

enum { scanmill_message_bytes = 16384 };

typedef struct {
  scanmill_program program; /* without executable, arguments, folder */
  int report;               /* where the new process says that it is there */
  char *text;               /* scanmill_message_bytes of memory for strings with a zero behind each */
  size_t count;             /* the bytes of these */
  size_t arguments;         /* how many of the strings are arguments; the rest are NAME=VALUE to be set */
} scanmill_message;

/* Waits for the next order, in the prepared process. */
enum scanmill_order scanmill_next_order(int socket, scanmill_message *message);

/*
 * Forks in the prepared process, which must have one thread. 1 in the new process, which is a child of the
 * process that prepared this one, has told that it is there and has become what the message asks for; 0 in
 * this one, which has closed what came with the message; -1 with errno when there is no new process.
 */
int scanmill_fork_prepared(int socket, scanmill_message *message);

/* Asks the prepared process to prepare itself. Never waits. */
void scanmill_warm(int socket);

/*
 * Asks it to start a process, and waits until that is there: `seconds` at most for each thing that is waited
 * for. `text` as above. 0 and the process, -1 when it is not there to do it, or the errno of what failed.
 */
int scanmill_start_prepared(
  int socket, const scanmill_program *program, const char *text, size_t count, size_t arguments,
  int seconds, pid_t *process);

/* Shows these words as the command line of this process in place of `arguments` (`argv` as main got it), where
   they have room. */
void scanmill_show_arguments(char **arguments, int count, const char *text, size_t bytes);
