/* Lists of who may come in, from files: access.db of a data folder, and a basic-auth file. */
#ifndef APP_ACCESS_FILE_H
#define APP_ACCESS_FILE_H

#include "api/auth.h"
#include "store/access.h"

enum status access_file_load(struct store_access *s, struct auth_lists *ret, struct err *e);
/* Lines NAME:ROLE:HASH; '#' begins a comment. INVALID names the line. */
enum status access_file_basic(const char *path, struct auth_lists *ret, struct err *e);

#endif
