/* One signal inside detect: its memory and the views over it. Private to this room.
 * All of it is plain data of fixed size without pointers, so that a clone is a copy and a digest runs over bytes. */
#ifndef DETECT_SERIES_H
#define DETECT_SERIES_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"
#include "detect/archive.h"
#include "model/evidence.h"
#include "model/policy.h"
#include "model/series.h"

#define SPIKE_R 10             /* blocks of "now" and of "before": loop.md "zscore" */
#define SPIKE_B 60
#define SPIKE_SKIP 240         /* blocks that excluded intervals may be skipped backwards: 2 h */
#define SERIES_POINTS 192      /* half an hour of points at 10 s and some to spare */
#define SERIES_BLOCKS 480      /* 4 h of 30 s blocks */
#define SERIES_WEIGHTS 64      /* request counts of the newest blocks: the widened window of 30 min */
#define SERIES_WARM 60         /* known ticks until baseline() answers: 30 min */
#define ACC_MAX 32             /* points of one block that its median is taken of */
#define SLOT_DAYS 60
#define SLOTS_DAY 96           /* at most: slots of 15 min */
#define SLOT_RING (SLOT_DAYS * SLOTS_DAY)
#define SLOTS_WEEK (7 * SLOTS_DAY)
#define SLOT_ACC 32
#define ANCHOR_DAYS 14
#define DRIFT_DAYS 7           /* history before drift() and profile() answer */
#define WEEK_DAYS 8            /* and before week_ago() does */
#define REQUESTS_MIN 100       /* in the window, for a quantile: loop.md section 5 */
#define HIST_OCTAVES 12        /* of past scores, from 2^-3 on, 16 steps each */
#define HIST_STEPS (HIST_OCTAVES * 16)

/* Marks of a block beside its number of known points. */
#define BLOCK_EXCLUDED 0x80u   /* not for B: an incident, an action, a maintenance */
#define BLOCK_OLD 0x40u        /* from before a knob changed */
#define BLOCK_COUNT 0x3fu

/* What follows from a signal's definition; never saved. */
struct track {
    int64_t tick_us, interval_us, step_us, slot_us, offset_us;
    double rel, resolution, alpha;
    double fast, slow;           /* rates of the score view, a tick */
    uint64_t score_warm;         /* ticks until score() answers */
    uint32_t block_ticks;        /* ticks a block; 2 for layers of 60 s */
    uint32_t r, b;               /* blocks of R and of B */
    uint32_t slots_day, slot_ticks;
    double weight;               /* requests of a block = mean n * weight; 0: the sum of n */
    enum bad bad;
    bool is_quantile, request_layer, log_scale;
    const struct archive *archive;   /* of the service; this signal is number `at` in each row */
    uint32_t at;
};

/* Places in the archive. A block has a row of means, then medians, then numbers of known points with their marks, so a point
 * values and times. Slots are codes, weeks the anchor's profile, marks a bit for each slot that is excluded. */
#define BLOCK_WIDTH (4u + 4u + 1u)
#define POINT_WIDTH (4u + 4u)

static inline float *block_mean(const struct track *t, uint32_t row)
{
    return (float *)(void *)(t->archive->blocks + row * t->archive->block_row) + t->at;
}

static inline float *block_median(const struct track *t, uint32_t row) { return block_mean(t, row) + t->archive->n; }

static inline uint8_t *block_known(const struct track *t, uint32_t row)
{
    return (uint8_t *)(t->archive->blocks + row * t->archive->block_row) + 8u * t->archive->n + t->at;
}

static inline float *point_value(const struct track *t, uint32_t row)
{
    return (float *)(void *)t->archive->points + (size_t)2 * row * t->archive->n + t->at;
}

/* Low 32 bits of milliseconds: the ring spans far less. */
static inline uint32_t *point_ms(const struct track *t, uint32_t row)
{
    return (uint32_t *)(void *)t->archive->points + ((size_t)2 * row + 1) * t->archive->n + t->at;
}

static inline size_t row_of_one(const struct track *t, uint32_t row) { return (size_t)row * t->archive->n + t->at; }

/* Request counts of the newest blocks: the widened window of 30 min. */
static inline uint32_t *block_requests(const struct track *t, uint32_t row)
{
    return (uint32_t *)(void *)t->archive->requests + row_of_one(t, row);
}

static inline uint16_t *slot_place(const struct track *t, uint32_t row)
{
    return (uint16_t *)(void *)t->archive->slots + row_of_one(t, row);
}

static inline uint16_t *week_place(const struct track *t, uint32_t row)
{
    return (uint16_t *)(void *)t->archive->weeks + row_of_one(t, row);
}

static inline uint8_t *slot_marks(const struct track *t, uint32_t row) { return (uint8_t *)t->archive->marks + row_of_one(t, row); }

/* By slot of the day: what is usual beside the level, and how many days it was learned from. */
static inline float *season(const struct track *t, uint32_t row)
{
    return (float *)(void *)t->archive->season + row_of_one(t, row);
}

static inline uint8_t *season_days(const struct track *t, uint32_t row)
{
    return (uint8_t *)t->archive->season_days + row_of_one(t, row);
}

/* How often a score was seen, in steps of a sixteenth of an octave; two generations, so that the past slides. */
struct score_hist {
    uint16_t now[HIST_STEPS], before[HIST_STEPS];
    uint32_t now_n, before_n;
    uint32_t top;                /* no step above it was seen */
};

enum learn { LEARN_NO, LEARN_SLOWLY, LEARN };   /* clip 1 scale after the 2 h bound, else 6 */

/* Members are ordered by size and the memory is zeroed at birth: no stray bytes in between. */
struct series {
    /* newest point */
    int64_t last_at, value_at, first_at, last_tick;
    double value, x;             /* x: what this tick compares; NaN unknown */
    /* open block */
    double acc_sum, acc_n_sum;
    double acc[ACC_MAX];
    /* shift */
    double base, scale, scale_before, pending;
    uint64_t learned;
    /* spike */
    double z, r_mean, b_median, b_scale, b_rest, b_half_sd, requests;
    /* score */
    double slow, fast, spread, slow_pending, score, score_raw, score_limit, log_unit;
    double usual;                /* at this time of this day of the week, beside the level; follows from the rest */
    uint64_t score_n;
    double season_sum, week_sum;
    /* slots: numbers of 15-min slots of local wall time */
    int64_t slot_now, slot_first, anchor_at, prof_no, week_day, drift_from;
    double profile, drift, week_ago, drift_day, drift_anchor, origin, anchor;
    int64_t origin_wall;
    uint64_t blocks;             /* closed so far; block q stands at q % SERIES_BLOCKS */
    uint64_t points;             /* the same for points */
    uint64_t b_from, b_to;       /* blocks of B: [from, to), excluded ones among them */
    uint32_t acc_points, acc_known, acc_n_count, block_tick, b_count, b_known;
    uint32_t slot_count, slot_bad, slot_seen, drift_n, profile_n, season_n, week_n, backwards;
    uint32_t why_point, why_x, why_z, state, lead, quiet, n_unknown;
    float b_sorted[SPIKE_B + 4];            /* behind the known ones: 0 */
    float week[8];               /* by day of the week */
    uint8_t week_days[8];
    uint8_t history, has_n, b_frozen, has_profile, anchor_frozen, anchor_down, imported, idle;
    struct score_hist hist;
    uint16_t slot_acc[SLOT_ACC];
    uint16_t prof_day[SLOTS_DAY];    /* profile as it stood in each of the last 24 h */
};

void track_init(struct track *t, const struct service_def *s, const struct signal_def *d, double alpha, int64_t tick_us);
void series_init(struct series *s);      /* of zeroed memory */
void series_feed(struct series *s, const struct track *t, struct point p);

struct series_tick {
    int64_t now, wall;
    enum learn learn;
    bool excluded;               /* this tick lies in an excluded interval or an open incident */
    bool idle;
};
void series_tick(struct series *s, const struct track *t, const struct series_tick *k);

/* Blocks (blocks.c). block_time: end of block q. */
void blocks_feed(struct series *s, const struct track *t, double value, uint32_t n, bool known);
void blocks_gap(struct series *s, const struct track *t, uint64_t missing);
void blocks_close(struct series *s, const struct track *t, bool excluded);
int64_t block_time(const struct series *s, const struct track *t, uint64_t q);
uint64_t block_oldest(const struct series *s);
static inline uint32_t block_at(uint64_t q) { return (uint32_t)(q % SERIES_BLOCKS); }
void blocks_mark(struct series *s, const struct track *t, int64_t from, int64_t to, unsigned mark);

/* Spike (spike.c). */
void spike_closed(struct series *s, const struct track *t);        /* a block was just closed */
void spike_rebuild(struct series *s, const struct track *t, uint64_t end);
void spike_eval(struct series *s, const struct track *t);
double spike_limited_scale(const struct series *s);
static inline uint64_t spike_end(const struct series *s)           /* B ends before this block */
{
    return s->blocks > s->lead ? s->blocks - s->lead : 0;
}

/* Slots (slots.c, anchor.c). Codes: 16 bits, 8 of them mantissa (0.2 %); 0 = unknown. */
uint16_t slot_code(double v);
double slot_value(uint16_t code);
/* Median of n <= SLOTS_DAY codes, none of them 0. */
double slot_median(const uint16_t *codes, uint32_t n);
int64_t slot_number(const struct track *t, int64_t wall);
void slots_tick(struct series *s, const struct track *t, const struct series_tick *k);
uint16_t slot_get(const struct series *s, const struct track *t, int64_t no, bool with_excluded);
uint32_t slot_ring_at(int64_t no);
void slots_mark(struct series *s, const struct track *t, int64_t now, int64_t wall, int64_t from, int64_t to);
void anchor_closed(struct series *s, const struct track *t);       /* a slot was just closed; slot_now is the new one */
void anchor_move_to(struct series *s, const struct track *t, double level, bool downward_only);

/* Score (score.c). */
void score_commit(struct series *s, const struct track *t);
void score_tick(struct series *s, const struct track *t, const struct series_tick *k);
void score_slot_opened(struct series *s, const struct track *t);   /* slot_now is the new one */
void score_slot_closed(struct series *s, const struct track *t, int64_t no, bool excluded);
void score_rebase(struct series *s, const struct track *t, double level);
void hist_add(struct score_hist *h, double v, uint32_t half_life);
void hist_find_top(struct score_hist *h);
double hist_quantile(const struct score_hist *h, double q);

/* Deviation of one view over its own limit in the signal's bad direction: 1 = at the limit. NaN unknown (views.c). */
double series_view(const struct series *s, const struct track *t, enum fn fn, struct finding *f);
enum series_state series_next_state(uint8_t *history, uint32_t *quiet, enum series_state was, bool any, bool lit);
void series_state_tick(struct series *s, const struct track *t);

static inline float to_float(double v)
{
    return (float)(v > 1e30 ? 1e30 : v < -1e30 ? -1e30 : v);
}

#endif
