/* The story of one action, told from its audit records under the six headings of the loop. */
#ifndef APP_STORY_H
#define APP_STORY_H

#include <jansson.h>

#include "base/buf.h"

/* records: as the API gives them, oldest first. */
void story_tell(struct buf *out, const char *action, const json_t *records);
/* {key} becomes the record's field; what stands in [] is left out when a field in it is absent. */
void story_fill(struct buf *out, const char *pattern, const json_t *record);

#endif
