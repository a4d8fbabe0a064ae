/* Stage 2: signal points -> evidence. Baselines, profiles, drift, z-scores, scores, with their learning rules.
 * loop.md section 1 is the contract; every formula there has its name here. Pure. One object per service. */
#ifndef DETECT_DETECT_H
#define DETECT_DETECT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/memory.h"
#include "base/time.h"
#include "model/evidence.h"
#include "model/policy.h"
#include "model/series.h"

struct detect;
struct detect *detect_new(const struct service_def *s, double ewma_alpha, struct span tick);
/* The same with what is rarely looked at (four hours of blocks, 60 days of slots) in memory from `cold`, which must outlive it. */
struct detect *detect_new_in(const struct service_def *s, double ewma_alpha, struct span tick, const struct memory *cold);
void detect_free(struct detect *d);

/* One point of one signal, in time order. Unknown points count as gaps, never as zero. */
void detect_feed(struct detect *d, uint16_t signal, struct point p);

/* What the loop knows about the service now; decides learning (loop.md "baseline(x)"). */
struct detect_context {
    bool symptom_active;       /* a symptom of the service is suspect or firing */
    bool action_active;        /* between INTENT and verdict + gap */
    bool maintenance, release_watch;
    bool idle;                 /* throughput 0 with good scrapes: no learning of latency */
};
/* Once per tick: compare first, then learn. Fills evidence items of signal functions (the others are left alone). */
void detect_tick(struct detect *d, struct instant now, struct wall wall, const struct detect_context *ctx,
                 struct evidence *out);

/* Call on the first true tick, after its detect_tick: freezes all baselines at their values BEFORE that tick for
 * timing.freeze_baseline (2 h), then they learn with clip 1. B of zscore becomes [onset - 31 min, onset - 1 min]. */
void detect_freeze(struct detect *d, struct instant onset);
/* A new symptom in an incident whose freeze may have reached its bound: the bound counts from here. */
void detect_refreeze(struct detect *d, struct instant onset);
/* Ends the freeze. What lies between onset and now is not learned, and left out of B and of the slots. `closed`: by an
 * incident that was false for 10 ticks in a row: those last ticks are healthy and may stand in B. */
void detect_unfreeze(struct detect *d, struct instant now, bool closed);
bool detect_aging(const struct detect *d, struct instant now);   /* the bound has passed inside an incident */
/* Sets b and scale of each signal from the blocks in [from, to): after a kept action or "normal now".
 * anchor: NONE leaves it, DOWNWARD moves it only where that is better, BOTH takes the new level. */
enum anchor_move { ANCHOR_KEEP, ANCHOR_DOWNWARD, ANCHOR_BOTH };
void detect_rebase(struct detect *d, struct instant now, struct instant from, struct instant to, enum anchor_move move);
/* The anchor alone: after a release that was judged good. */
void detect_anchor(struct detect *d, struct instant from, struct instant to, enum anchor_move move);
/* Samples before `at` belong to an old regime (a knob changed): spike windows skip them. */
void detect_regime(struct detect *d, struct instant at);
/* The state that a drift was about has ended: what lies before `from` no longer counts in the median of 24 h, so that drift() is
 * unknown until two thirds of a day are new. */
void detect_drift_restart(struct detect *d, struct instant from);
/* The same ratio over a short window: median of the blocks in [from, to) over the profile of now, minus 1. Unknown while less than
 * two thirds of the window is known, or without a profile. loop.md section 1, "profile, drift": for the verdict and the close. */
struct datum detect_window_drift(const struct detect *d, uint16_t signal, struct instant from, struct instant to);
/* Interval to be skipped by the spike view's B and the week and profile slots. */
void detect_exclude(struct detect *d, struct instant from, struct instant to);
/* Pre-release baseline is kept 30 min. */
void detect_release(struct detect *d, struct instant at);

/* A signal with `shape`: the buckets of the window that ends now, as a point that says how far they have moved (spec section 3 d).
 * Compared first, then learned, once a window and only while baselines learn: for 14 days, by hour of the day, then no more until
 * an anchor event. Value: the least, over
 * the hours and blends of two neighbours, of PSI, 0 while under its null's 95 % point, or of the KS distance, 0 while p is
 * over 1 %. Unknown until seven days were learned, and under 300 values in the window. */
struct point detect_shape(struct detect *d, uint16_t signal, const struct histogram *h, struct instant now, struct wall wall);

/* Block medians of a signal in [from, to), oldest first, into out (cap entries); step = max(30 s, interval, range).
 * NaN = unknown block. A block is what came in between two ticks and belongs to where it ENDED; kept for 4 h. */
void detect_blocks(const struct detect *d, uint16_t signal, struct instant from, struct instant to, double *out, uint32_t cap,
                   struct blocks *ret);
/* Known and all expected points in [from, to). */
void detect_count(const struct detect *d, uint16_t signal, struct instant from, struct instant to, uint32_t *ret_known,
                  uint32_t *ret_all);

struct detect_warm { bool shift, spike, day, drift, week; uint32_t learned_ticks; struct span history; bool imported; };
void detect_warm(const struct detect *d, struct instant now, struct detect_warm *ret);

struct detect_status {          /* of one signal, for status and console */
    double value, baseline, scale, profile, drift, zscore, score, anchor, origin;
    struct wall origin_at;
    enum series_state state;
    enum unknown_why why, baseline_why;
    struct instant at;
    uint32_t n;
};
void detect_status(const struct detect *d, uint16_t signal, struct detect_status *ret);
/* Findings of the last tick, strongest first; returns the count. detect_say prints one as a sentence. */
uint32_t detect_findings(const struct detect *d, struct finding *out, uint32_t cap);
void detect_say(struct buf *out, const struct service_def *s, const struct finding *f);

/* Baseline state as bytes, with a version; survives restart. Load: false when it is not ours or damaged (d unchanged).
 * Signals are matched by name. `gap`: time since it was saved; the spike view re-warms. */
void detect_save(const struct detect *d, struct buf *out);
bool detect_load(struct detect *d, const void *bytes, size_t len, struct instant now);
/* History before the start: points in time order fill baseline, profile, anchor, weeks as if lived through; marked imported. */
void detect_import_begin(struct detect *d);
void detect_import(struct detect *d, uint16_t signal, const struct point *points, const struct wall *walls, uint32_t n);
void detect_import_end(struct detect *d, struct instant now, struct wall wall);

/* Points between the saved state that was loaded and now, in time order, which nobody looked at: they fill the blocks that a
 * running action is judged by, and nothing is learned from them. Those that the state has seen are passed over. */
void detect_refill(struct detect *d, uint16_t signal, const struct point *points, uint32_t n);

size_t detect_bytes(const struct detect *d);
size_t detect_hot_bytes(const struct detect *d);           /* of these what each tick works on */
uint64_t detect_digest(const struct detect *d);
struct detect *detect_clone(const struct detect *d);

#endif
