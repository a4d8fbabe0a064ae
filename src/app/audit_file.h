/* The audit log without a daemon: from a file or a data folder. */
#ifndef APP_AUDIT_FILE_H
#define APP_AUDIT_FILE_H

#include <jansson.h>
#include <stdbool.h>

#include "base/status.h"

/* `what` is an audit.db or a folder that holds one. */
bool audit_file_find(const char *what, char path[1200], struct err *e);
/* Records of the action and of the incident it belongs to, as the API gives them. NULL: *e. */
json_t *audit_file_story(const char *path, const char *action, struct err *e);
/* Each record's exact bytes, one a line, on stdout. */
enum status audit_file_export(const char *path, struct err *e);
/* good, records, checkpoints, ... NULL: *e. key, checkpoint: files; NULL: those beside the log where there are any. */
json_t *audit_file_verify(const char *path, const char *key, const char *checkpoint, struct err *e);

#endif
