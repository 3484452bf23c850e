#pragma once

/* Opening by path without ever leaving a folder: the kernel enforces it (openat2), step by step where
   there is none (before Linux 5.6, or where a filter forbids it). Results are descriptors, or errors as negative
   numbers. */

/* Opens `path`, relative to the open folder `folder`, as openat does with `flags` and `mode`.

   `follows_links` 0: -ELOOP where any part of the path is a link. Else links are followed as long as they lead
   somewhere inside the folder: -EXDEV at one that leads out, and at every absolute one; -ELOOP where they go in a
   circle. In both cases a path that goes up beyond the folder is -EXDEV, and O_PATH with O_NOFOLLOW opens a link at
   the end itself. */
int scanmill_open_beneath(int folder, const char *path, int flags, int mode, int follows_links);

/* Opens `path`, absolute or relative to the current folder; -ELOOP where any part of it is a link. */
int scanmill_open_without_links(const char *path, int flags, int mode);

/* The same as scanmill_open_beneath without openat2. */
int scanmill_walk_beneath(int folder, const char *path, int flags, int mode, int follows_links);
