/* The object of one service. Private to this room. */
#ifndef DETECT_DETECT_PRIVATE_H
#define DETECT_DETECT_PRIVATE_H

#include "detect/detect.h"
#include "detect/series.h"

#define DETECT_MAGIC 0x64657463u
#define DETECT_EXCLUDED 8        /* intervals that reach into the future; older ones are marked in the series */

struct detect_state {            /* plain data: saved, cloned and digested whole */
    int64_t last_tick, last_wall;
    int64_t onset;               /* INT64_MIN: not frozen */
    int64_t release_at;
    int64_t excluded[DETECT_EXCLUDED][2];
    uint64_t excluded_n, imported, ticks;
};

struct detect {
    uint32_t magic;
    uint16_t n;
    const struct service_def *def;
    double alpha;
    struct span tick, bound;
    struct track *tracks;
    struct detect_state st;
    struct series *series;
    struct archive archive;
    struct shape_state *shapes;  /* of the signals with `shape`, in their order; NULL: there are none */
    bool may_learn;              /* as of the last tick, for shapes; false until there was one */
    const struct memory *cold;   /* where the archive lies; NULL: on the heap */
};

void detect_evidence(const struct detect *d, struct instant now, struct wall wall, struct evidence *out);
struct datum detect_window(const struct series *s, const struct track *t, enum fn fn, int64_t now, struct span window);
/* Fresh series and an archive for d->n signals. false: out of memory, nothing kept. */
bool detect_memory(struct detect *d);
void detect_forget_memory(struct detect *d);
void detect_point_tracks(struct detect *d, const struct archive *a);
/* Distributions (shape.c). */
bool shapes_new(struct detect *d);                 /* false: out of memory */
void shapes_restart(struct detect *d);             /* an anchor event: learned anew */
void shapes_save(const struct detect *d, struct buf *b);
bool shapes_load(struct detect *d, struct reader *r);
uint64_t shapes_digest(const struct detect *d, uint64_t h);
bool shapes_copy(struct detect *to, const struct detect *from);   /* a fresh copy of its own; false: out of memory */
/* Whether learning is off only because of what the loop said, and with which clip. */
enum learn detect_learning(const struct detect *d, int64_t now, const struct detect_context *ctx);
bool detect_is_excluded(const struct detect *d, int64_t now);

#endif
