#include "catalog.h"

#include <sqlite3.h>
#include <string.h>

static sqlite3_vfs without_links;

/* SQLite's own function resolves links here and opens their target. */
static int whole_path(sqlite3_vfs *vfs, const char *name, int room, char *whole) {
  (void)vfs;
  const size_t length = strlen(name);
  if (name[0] != '/' || room <= 0 || length >= (size_t)room) return SQLITE_CANTOPEN;
  memcpy(whole, name, length + 1);
  return SQLITE_OK;
}

int scanmill_sqlite_without_links(void) {
  const sqlite3_vfs *usual = sqlite3_vfs_find(0);
  if (!usual) return SQLITE_ERROR;
  without_links = *usual;
  without_links.pNext = 0;
  without_links.zName = "scanmill";
  without_links.xFullPathname = whole_path;
  return sqlite3_vfs_register(&without_links, 1);
}
