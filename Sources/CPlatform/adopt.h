#pragma once
#include "process.h"

/*
 * Makes this new process, which has one thread, what a program is to be before it is executed: signals as by
 * default, group, death with `parent`, limits, folder, standard descriptors. 0, or -1 with errno; ends the
 * process when `parent` is gone already. Async-signal-safe.
 */
int scanmill_adopt(const scanmill_program *program, pid_t parent);
