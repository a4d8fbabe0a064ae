/* Stage 1: scraped bytes -> samples -> signal points. Pure: pages come in, points go out.
 * Of each metric it keeps in memory what the queries over it reach, and a minute more. */
#ifndef COLLECT_COLLECT_H
#define COLLECT_COLLECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/status.h"
#include "base/time.h"
#include "model/policy.h"
#include "model/series.h"

/* facts: Prometheus's limits default to none, ours do not. A page over one is unknown as a whole. */
struct collect_limits {
    uint32_t page_bytes;      /* 16 MiB unzipped */
    uint32_t samples;         /* 200,000 */
    uint32_t labels;          /* 64 a sample */
    uint32_t name_bytes;      /* 128 */
    uint32_t value_bytes;     /* 1 KiB */
    uint32_t line_bytes;      /* 64 KiB */
    struct span clock_off;    /* explicit timestamps further than this from the scrape are unknown: 10 min */
};
struct collect_limits collect_limits_default(void);

struct page {
    uint16_t target;              /* index in the service */
    struct instant at;            /* when the scrape began */
    struct wall wall;
    enum page_outcome outcome;
    const char *bytes; size_t len;   /* unzipped body; only for PAGE_OK */
    bool openmetrics;             /* by Content-Type */
    const char *error;            /* for people, may be NULL */
};

struct page_report {              /* what became of a page */
    enum page_outcome outcome;    /* PAGE_OK, or TOO_LARGE / GARBAGE found while parsing */
    uint32_t samples, series, broken_lines;
    uint32_t first_broken_line;   /* from 1; 0 none */
    char error[200];              /* of the page, or of its first broken line with its name */
};

struct collect;                   /* one service */
struct collect *collect_new(const struct service_def *s, struct collect_limits limits);   /* NULL: out of memory */
void collect_free(struct collect *c);   /* takes NULL */
/* Takes one page in. A page over a limit changes no series but marks the instance unknown. */
void collect_page(struct collect *c, const struct page *p, struct page_report *ret);
/* Evaluates each signal whose interval has passed since it was last evaluated; fills out[signal] and sets due[signal].
 * out and due have s->signal_count entries. Freshness: loop.md section 1. */
void collect_tick(struct collect *c, struct instant now, struct wall wall, struct point *out, bool *due);
/* Points that come from outside (prometheus source, script, import) bypass pages. Only freshness is judged. */
void collect_value(struct collect *c, uint16_t signal, struct point p);
/* The buckets that the query of a signal with `shape` gives now. false: none, or not those of one histogram. */
bool collect_shape(struct collect *c, uint16_t signal, struct instant now, struct histogram *ret);
/* We restarted or reloaded the target at `at`: rates are unknown for one range from then on, and it is no release. */
void collect_own_reload(struct collect *c, struct instant at);
/* A change of process start time on more than half of the instances, or of a model_version label: loop.md "Causes". */
struct release_seen { bool seen; char version[64]; struct instant at; };
void collect_release(struct collect *c, struct release_seen *ret);   /* since the last call */
struct collect_target { bool up; struct instant last_good, last_try; char error[200]; uint32_t samples, broken_lines; };
void collect_target(const struct collect *c, uint16_t target, struct collect_target *ret);
size_t collect_bytes(const struct collect *c);       /* memory held */
/* Carries the samples over to a new policy of the same service (reload). */
void collect_adopt(struct collect *to, struct collect *from);
/* All state as bytes; into a fresh collector of the same service. false: the bytes are not ours, or cut; `c` is then
 * fit for collect_free only. Two collectors that behave alike from here on have the same bytes and digest. */
void collect_save(const struct collect *c, struct buf *out);
bool collect_load(struct collect *c, const void *bytes, size_t len);
struct collect *collect_clone(const struct collect *c);   /* NULL: out of memory */
uint64_t collect_digest(const struct collect *c);
/* An instance began anew three times within 10 min, and not by us: for outage. */
bool collect_restart_loop(const struct collect *c, struct instant now);
/* When the youngest instance's process began (its own clock); WALL_NONE: no instance says. For age(replica). */
struct wall collect_youngest(const struct collect *c);
/* Instances that reported good pages within three intervals, and all: for outage and "2/3 report". None of both where
 * a server is asked instead of the instances. */
void collect_instances(const struct collect *c, struct instant now, uint16_t *ret_up, uint16_t *ret_all);

#endif
