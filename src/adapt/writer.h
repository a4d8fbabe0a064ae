/* Knobs at their targets: writer_port of the daemon. EFFECT_READ and EFFECT_WRITE in, EVENT_READ and EVENT_ANSWER out.
 * Chooses http_writer or file_writer by the knob's access, once or for each instance. */
#ifndef ADAPT_WRITER_H
#define ADAPT_WRITER_H

#include "adapt/adapt.h"

struct writer;

struct writer_counters { uint64_t reads, failed_reads, writes, answers[ANSWER_NOT_SENT + 1]; };

struct writer *writer_new(const struct adapt *a);   /* NULL: out of memory */
void writer_free(struct writer *w);                 /* takes NULL; after fetch_free */
struct writer_port writer_port(struct writer *w);
void writer_counters(const struct writer *w, struct writer_counters *ret);
bool writer_busy(const struct writer *w);           /* a write is under way */

#endif
