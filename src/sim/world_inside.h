/* Inside of the simulated world: shared by world*.c only. */
#ifndef SIM_WORLD_INSIDE_H
#define SIM_WORLD_INSIDE_H

#include "base/arena.h"
#include "sim/heap.h"
#include "sim/world.h"

#define WORLD_POLL_DELAY SPAN_MS(20)
#define WORLD_READ_DELAY SPAN_MS(2)
#define WORLD_WRITE_DELAY SPAN_MS(3)
#define WORLD_ACK_DELAY SPAN_MS(1)
#define WORLD_LOG_MAX 200000

enum later_kind {
    LATER_PAGE, LATER_READ, LATER_WRITE, LATER_ACK, LATER_COMMAND, LATER_RELEASE, LATER_BY_HAND, LATER_RECONCILE, LATER_CLOCK,
    LATER_VALUES
};

struct later {
    enum later_kind kind;
    uint16_t target, knob;
    uint32_t action;
    uint64_t token;
    struct instant began;
    struct knob_value value;
    struct command command;
    const char *version, *knob_name, *text;
    struct span by;                  /* of a clock step; between two looks of a reconciler */
    struct world_points *points;     /* of VALUES; freed with it */
};

struct world_points { uint16_t signals[2 * POLICY_SIGNALS_MAX]; struct point points[2 * POLICY_SIGNALS_MAX]; uint32_t n; };

/* Somebody waits for a record of a kind. */
struct world_waiting { enum record_kind on; struct span delay; const char *knob, *value; bool done; };
enum { WORLD_WAITING_MAX = 16 };

struct world_series { struct series_script script; bool present; };
struct world_target_knob { const char *name; double value; bool present; };

struct world {
    struct world_options o;
    struct service_def *service;
    struct loop *loop;
    struct plant *plant;
    struct fluid *fluid;
    struct heap heap;
    struct instant now, wake, next_values;
    struct world_series series[POLICY_SIGNALS_MAX];
    struct world_target_knob knobs[POLICY_KNOBS_MAX];
    uint64_t versions[POLICY_KNOBS_MAX];     /* of each knob at the target: counts its changes */
    double newest[POLICY_SIGNALS_MAX];
    uint8_t place[POLICY_SIGNALS_MAX];       /* of each signal in the truth */
    struct spoiler spoiler;
    struct buf page;                         /* the newest page, for a scrape that is stuck */
    struct world_waiting waiting[WORLD_WAITING_MAX]; uint16_t waiting_n;
    struct read_vector read;                 /* the answer that is being given */
    struct plant_window last;                /* of a fluid target: its last tick */
    struct arena log_arena;
    const struct record **log;
    size_t log_n, log_cap;
    uint64_t digest, writes, ticks;
    struct buf scratch, answer;
    uint8_t last_row[8];
    void (*row)(void *ctx, const struct world_row *r);
    void *row_ctx;
};

/* world.c */
void world_step(struct world *w, struct event *e);
struct wall world_wall(const struct world *w);
struct later *world_later(struct world *w, enum later_kind kind, struct instant at);
void world_mix(struct world *w, const void *bytes, size_t len);   /* into the digest */

/* world_target.c: the target as the loop's ports see it */
void target_page(struct world *w, const struct later *l);
void target_read(struct world *w, const struct later *l);
void target_write(struct world *w, const struct later *l);
void target_values(struct world *w);
void target_deliver(struct world *w, const struct world_points *p);
enum status target_set(struct world *w, const char *knob, const char *text, size_t len, struct err *e);
enum status target_get(const struct world *w, const char *knob, struct buf *out, struct err *e);
void target_history(struct world *w);

/* world_others.c: people and machines that change the target beside the daemon */
void others_see_record(struct world *w, enum record_kind kind);
void others_reconcile(struct world *w, const struct later *l);

#endif
