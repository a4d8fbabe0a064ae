/* Own results to a receiver of Prometheus remote write 1.0 (snappy, protobuf): facts of the format in the specification of
 * remote write. Requests go out one at a time and in order, so that each series rises in time; a failed one is tried again after
 * 1, 2, 4 .. 60 s as long as it may help (no answer, 5xx, 429), and then makes room when REMOTE_QUEUE of them wait: the oldest
 * goes, counted. It never blocks and nothing waits for it. */
#ifndef ADAPT_REMOTE_WRITE_H
#define ADAPT_REMOTE_WRITE_H

#include "adapt/adapt.h"
#include "base/buf.h"

#define REMOTE_QUEUE 120

struct remote_label { const char *name, *value; uint32_t name_len, value_len; };

/* Appends one series with one sample to a message. Labels come in any order, __name__ among them, at most
 * REMOTE_LABELS; those without a value are left out. They are sorted here. */
#define REMOTE_LABELS 72
void remote_add(struct buf *message, struct remote_label *labels, uint32_t n, double value, int64_t time_ms);

struct remote_write;

struct remote_counters { uint64_t sent, failed, dropped, samples; unsigned waiting; };

struct remote_write *remote_write_new(const struct adapt *a);   /* NULL: out of memory */
void remote_write_end(struct remote_write *r);                  /* before fetch_free: nothing more is sent. Takes NULL */
void remote_write_free(struct remote_write *r);                 /* after remote_write_end and fetch_free. Takes NULL */
/* Packs and queues; `to` is used when it goes out, by the policy in force then. `samples` is for the counter. */
void remote_write_put(struct remote_write *r, const struct buf *message, uint32_t samples);
void remote_write_counters(const struct remote_write *r, struct remote_counters *ret);

#endif
