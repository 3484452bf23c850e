#pragma once

#define HIDDEN __attribute__((visibility("hidden")))

/* The initial target of the pointers, before the libraries are loaded. Never called from C. */
HIDDEN void scanmill_ffmpeg_first(void);

/* Loads the library of the function whose pointer lies at `place`, or ends the process with a message and 127, as the
   system's loader does when a library is missing. */
HIDDEN void scanmill_ffmpeg_require(void **place);

/* The pointers through which the functions jump. */
#define F(library, function) extern HIDDEN void *scanmill_at_##function;
#include "functions.h"
#undef F
