#pragma once

/*
 * Lowers this process with all its threads, and what it starts from now on: nice 19, I/O class idle,
 * OOM score 1000, and none of it is taken back by threads that it starts. Best effort.
 */
void scanmill_lower_priority(void);

/* A file that is only in memory, closed on exec. A descriptor, or -1 with errno. */
int scanmill_memory_file(void);
