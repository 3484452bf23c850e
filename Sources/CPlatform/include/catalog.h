#pragma once

/* From now on SQLite opens databases of this process by absolute paths only, and follows no link at their end: it
   opens all its files with O_NOFOLLOW, but follows a link in the place of the database itself by hand before that.
   Once per process. 0, or an error of SQLite. */
int scanmill_sqlite_without_links(void);
