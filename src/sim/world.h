/* A simulated daemon with its world: the shipped loop under a virtual clock, a target that is a plant (request by request, or
 * fluid) or scripted series, and an audit log in memory. Effects become events after fixed virtual delays. One service. */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/status.h"
#include "loop/loop.h"
#include "model/policy.h"
#include "model/record.h"
#include "sim/fluid.h"
#include "sim/metric_fault.h"
#include "sim/plant.h"
#include "sim/series_script.h"

enum world_kind { WORLD_PLANT, WORLD_FLUID, WORLD_SCRIPT };

struct world_options {
    struct policy *policy;           /* one service; the world uses it but does not free it. In fluid and script worlds its
                                      * targets are detached: points come straight from the world, once a tick */
    enum world_kind kind;
    uint64_t seed;
    struct wall start;               /* wall time of instant 0 */
    struct plant_config plant;       /* plant and fluid worlds */
    struct span interval;            /* script worlds: between two values of a series; 0: the policy's tick */
    struct span history;             /* healthy past that is imported before the start */
    bool coarse;                     /* fluid worlds: steps as long as a tick, past included; for years of a healthy service */
};

/* A row of the timeline: a tick whose decision differs from the one before, or an audit record. */
struct world_row {
    struct instant t;
    const struct service_view *view; /* NULL for a record */
    const struct record *record;     /* NULL for a tick */
};

struct world;

/* NULL and *e when the policy has not exactly one service, or the plant refuses its configuration. */
struct world *world_new(const struct world_options *o, struct err *e);
void world_free(struct world *w);    /* takes NULL */
enum status world_fault(struct world *w, const struct plant_fault *f, struct err *e);
/* Script worlds: the series of one signal, one point a tick; takes the script over. NOT_FOUND: no such signal. */
enum status world_series(struct world *w, const char *signal, struct series_script *script, struct err *e);
/* Script worlds: a knob of the target and its value. */
enum status world_knob(struct world *w, const char *knob, double value, struct err *e);
/* A person's command, or a deploy, at a time to come. Texts must outlive the world. */
void world_command(struct world *w, struct instant at, const struct command *c);
void world_release(struct world *w, struct instant at, const char *version);
/* A person changes a knob by hand at the target. */
void world_by_hand(struct world *w, struct instant at, const char *knob, const char *value);
/* The same, `delay` after the first record of that kind: somebody who acts while an action runs. LIMIT: more than 16. */
enum status world_by_hand_on(struct world *w, enum record_kind on, struct span delay, const char *knob, const char *value,
                             struct err *e);
/* From `at` on somebody looks every `every` and puts the knob back to `value`: GitOps. */
void world_reconcile(struct world *w, struct instant at, struct span every, const char *knob, const char *value);
/* The wall clock of the daemon is set by so much. */
void world_clock_step(struct world *w, struct instant at, struct span by);
/* UNSUPPORTED in scripted worlds, and where pages are scraped for kinds other than metrics-missing and metrics-frozen. */
enum status world_metric_fault(struct world *w, const struct metric_fault *f, struct err *e);
/* Called for each row, in order. */
void world_watch(struct world *w, void (*row)(void *ctx, const struct world_row *r), void *ctx);

void world_run(struct world *w, struct instant until);
struct instant world_now(const struct world *w);
const struct loop *world_loop(const struct world *w);
/* Appends the value that the target itself holds. NOT_FOUND: no such knob. */
enum status world_knob_get(const struct world *w, const char *knob, struct buf *out, struct err *e);
/* What the target truly did: since the last call, or in fluid worlds over the last tick; false in script worlds. */
bool world_truth(struct world *w, struct plant_window *ret);
/* Over all audit bytes, decisions and the plant's state. Same seed, same digest, on every compiler. */
uint64_t world_digest(const struct world *w);
uint64_t world_writes(const struct world *w);      /* sends, undo included */
/* Newest known value of a signal by name, NaN when unknown. */
double world_signal(const struct world *w, const char *signal);
/* Which number of the truth a signal is, by its usual name; NaN for a name that no plant knows. */
double world_signal_of(const struct plant_window *t, const char *name);
/* The same in two steps: the place of a name (WORLD_NO_PLACE: no plant knows it), and all values by place. */
enum { WORLD_PLACES = 20, WORLD_NO_PLACE = WORLD_PLACES };
unsigned world_signal_place(const char *name);
void world_signal_values(const struct plant_window *t, double ret[WORLD_PLACES + 1]);

#endif
