/* Inside of the room: what a struct collect holds. */
#ifndef COLLECT_INSIDE_H
#define COLLECT_INSIDE_H

#include "base/arena.h"
#include "collect/collect.h"
#include "collect/expo.h"
#include "promql/promql.h"

#define NO_SERIES UINT32_MAX
#define NO_ROOM (UINT32_MAX - 1)         /* a series that is wanted, but memory or a limit forbids it */
#define NAMES_MAX 20000                 /* metrics of one service, where a selector names none */
#define VERSIONS_MAX 8
#define VERSION_BYTES 64
#define STALE_INTERVALS 3
#define TAKE_ALL_KEEP_MS (10 * 60 * 1000)
#define SCRATCH_LIMIT (64u << 20)        /* bytes that one evaluation may use */

/* One stored series of one target. Labels, their strings and `text` are one block. */
struct series {
    struct pq_labels labels;       /* items NULL: the slot is free */
    uint64_t hash;
    const char *text;              /* as it last stood in a page */
    uint32_t text_len;
    uint32_t name;                 /* index into collect.names */
    uint32_t place;                /* in its target's `order` */
    uint16_t target;
    enum unknown_why why;          /* of the last page: KNOWN, BROKEN or CLOCK */
    bool own_time;                 /* its samples carry the target's timestamps: no stale markers (Prometheus) */
    bool ended;                    /* a stale marker was its last sample */
    uint32_t page;                 /* number of the last page that had it */
    uint32_t staged;               /* its place in collect.staged while that page is read */
    struct pq_sample *samples;
    uint32_t first, n, cap;
    size_t block_bytes;
};

/* A metric that some signal selects. */
struct name {
    const char *text;
    uint32_t len;
    int64_t keep_ms;               /* how long its samples are needed */
    uint64_t broken;               /* bit per target: a line of it could not even be told apart on the last page */
    uint32_t *series;              /* indices */
    uint32_t series_n, series_cap;
    bool any;                      /* some selector takes all series of the name, or it is watched for its own sake */
};

struct versions { char text[VERSIONS_MAX][VERSION_BYTES]; uint32_t n; };

struct target {
    struct instant last_good, last_try;
    enum page_outcome outcome;     /* of the last page */
    bool tried;
    enum unknown_why why;          /* SCRAPE or LIMIT when the last page was no good */
    char error[200];
    uint32_t samples, broken_lines;
    uint32_t *order;               /* series in the order of the last good page */
    uint32_t order_n, order_cap;
    double start_time;             /* process_start_time_seconds; 0: never seen */
    struct instant start_changed;
    struct instant restarts_since; /* first of `restarts` starts that came within RESTART_SPAN */
    uint32_t restarts;
    struct versions versions;
};

struct staged { uint32_t series; int64_t t_ms; double v; };

struct signal_state { struct instant next; struct point last; bool given; };

struct collect {
    uint32_t magic;
    const struct service_def *s;
    struct collect_limits limits;
    struct arena arena;            /* names, selectors */
    struct arena scratch;          /* of one evaluation */
    struct name *names;
    uint32_t name_count;
    uint32_t *name_slots, name_slot_count;
    bool takes_all;                /* a selector without a name: every metric is stored */
    struct pq_selector *selectors;
    uint32_t selector_count;
    struct target *targets;
    struct signal_state *signals;
    struct series *series;
    uint32_t series_n, series_cap, series_live, free_hint;   /* no free slot stands before the hint */
    uint32_t *slots, slot_count;   /* hash of labels -> series + 1 */
    struct staged *staged;
    uint32_t staged_n, staged_cap;
    uint32_t page;                 /* number of the page being read */
    bool anchored;
    int64_t offset_ms;             /* timeline = instant in ms + offset; about Unix time, but it never steps */
    struct instant own_reload;
    struct release_seen release;
    struct versions page_versions;
    size_t bytes;
    struct buf text;               /* for unescaping */
};

#define COLLECT_MAGIC 0x434f4c4cu

/* ---- timeline ---- */
void collect_anchor(struct collect *c, struct instant at, struct wall wall);
static inline int64_t timeline(const struct collect *c, struct instant at) { return at.us / US_PER_MS + c->offset_ms; }
static inline struct instant timeline_instant(const struct collect *c, int64_t t_ms)
{
    return (struct instant){(t_ms - c->offset_ms) * US_PER_MS};
}

/* ---- names ---- */
bool collect_names_build(struct collect *c);
uint32_t collect_name_find(const struct collect *c, const char *text, uint32_t len);      /* NO_SERIES: nobody asks for it */
uint32_t collect_name_add(struct collect *c, const char *text, uint32_t len, int64_t keep_ms);
bool collect_name_wants(const struct collect *c, struct pq_labels labels);               /* some selector takes it */

/* ---- series ---- */
/* Finds or makes the series of the sample in x; name NO_SERIES: not a known metric. NO_SERIES: not wanted. NO_ROOM. */
uint32_t collect_series_of_sample(struct collect *c, const struct expo *x, uint32_t name, uint16_t target);
uint32_t collect_series_find(const struct collect *c, struct pq_labels labels, uint64_t hash);
uint32_t collect_series_new(struct collect *c, struct pq_labels labels, uint64_t hash, uint32_t name, uint16_t target,
                    const char *text, uint32_t text_len);
void collect_series_append(struct collect *c, struct series *s, int64_t t_ms, double v);
void collect_series_end(struct collect *c, struct series *s, int64_t t_ms);              /* writes a stale marker */
void collect_series_forget_old(struct collect *c, int64_t now_ms);
void collect_series_free_all(struct collect *c);
uint64_t collect_series_hash(struct pq_labels l);
double collect_stale_marker(void);

/* ---- releases ---- */
void collect_versions_add(struct versions *v, const char *text, size_t len);
void collect_release_page(struct collect *c, uint16_t target, const struct page *p, double start_time);

#endif
