/* One read or write of one knob in a local file. The file is replaced as a whole: temporary file beside it, sync,
 * rename, sync of the folder; owner and mode stay. Whoever reads sees the old or the new text, never half of one. */
#ifndef ADAPT_FILE_WRITER_H
#define ADAPT_FILE_WRITER_H

#include <stdbool.h>

#include "loop/event.h"
#include "model/policy.h"

#define FILE_WRITER_MAX ((size_t)1 << 20)

bool file_writer_read(const struct access_def *def, struct knob_value *ret, char why[160]);
/* REFUSED: the file holds something else than `old`, or cannot be written; nothing was changed. may_send is asked right
 * before the rename. ERROR: after the rename, so it may have happened. */
enum answer_kind file_writer_write(const struct access_def *def, const char *read_pointer, const struct knob_value *value,
                                   const struct knob_value *old, bool (*may_send)(void *arg), void *arg, char why[160]);

#endif
