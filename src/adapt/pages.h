/* Memory for what is rarely looked at (base/memory.h), lent from a file without a name in the data folder: what nobody has
 * touched for a while lies on the disk and not in memory. The file goes when the process ends; it survives nothing and need not. */
#ifndef ADAPT_PAGES_H
#define ADAPT_PAGES_H

#include <stdint.h>

#include "base/memory.h"
#include "base/status.h"

struct pages;
/* NULL with `e`: no such file can be had there. */
struct pages *pages_open(const char *folder, struct err *e);
void pages_close(struct pages *p);           /* after all of it was given back; takes NULL */
/* Each piece has its room on the disk when it is taken, so that a full disk refuses it and never kills; what the disk cannot
 * hold comes from the heap. */
const struct memory *pages_memory(struct pages *p);
/* Lets go of the resident pages of the pieces whose number leaves `turn` when divided by `turns`. They come back when touched. */
void pages_rest(struct pages *p, uint32_t turn, uint32_t turns);
uint64_t pages_lent(const struct pages *p);  /* bytes on the disk */
uint64_t pages_refused(const struct pages *p);   /* pieces that came from the heap instead */

#endif
