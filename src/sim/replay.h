/* Recorded history through the shipped loop, in shadow: every service runs in mode alert, nothing is written, and what
 * would have been done is told beside what the signals did next. The same history gives the same bytes.
 *
 * Time: points of a signal come in order and are the loop's as soon as its clock has passed them. What lies before the
 * start is imported as history, so that the loop starts warm. The history does not answer to what was not done:
 * after the first would-be action of a service everything told of it is counterfactual. */
#ifndef SIM_REPLAY_H
#define SIM_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"
#include "loop/loop.h"
#include "model/record.h"

#define REPLAY_POINTS_MAX 100000000u   /* of all signals together: 1.6 GB */
#define REPLAY_AFTER_SIGNALS 8
#define REPLAY_AFTER_PARTS 3
#define REPLAY_AFTER SPAN_MIN(30)
#define REPLAY_SYMPTOMS 8

/* Where the value came from that a knob is taken to have had. */
#define REPLAY_ORIGIN_TABLE(X)                                                                              \
    X(RECORDED, "recorded", "the history holds it")                                                         \
    X(AUDIT, "audit", "the audit log beside the history names it")                                          \
    X(GIVEN, "given", "given on the command line")                                                          \
    X(USE, "use", "assumed: the lowest rung that its recorded use fits under")                              \
    X(LOWEST, "lowest-rung", "assumed: the lowest rung of its ladder")
enum replay_origin {
#define X(id, ...) REPLAY_##id,
    REPLAY_ORIGIN_TABLE(X)
#undef X
};
const char *replay_origin_name(enum replay_origin o);
const char *replay_origin_sentence(enum replay_origin o);

/* What the mode of the configuration makes of a plan. */
enum replay_would { REPLAY_WOULD_REPORT, REPLAY_WOULD_ASK, REPLAY_WOULD_ACT };
const char *replay_would_name(enum replay_would w);   /* report, ask, act */

struct replay_series {
    struct wall *at;             /* growing */
    double *value;               /* NaN: recorded as not known */
    size_t n, cap, next;
    struct span step;            /* usual distance; 0: fewer than two points */
};

struct replay_knob {
    bool present;
    enum replay_origin origin;   /* of the first value */
    struct replay_change { int64_t at; double value; } *changes;
    size_t n, cap, next;
    double start, now;
};

/* Medians of one signal before and after an instant; NaN where nothing is known. */
struct replay_after { uint16_t signal; double before, after[REPLAY_AFTER_PARTS]; };

struct replay_plan {
    struct wall at;
    const struct record *record;         /* WOULD */
    enum replay_would would;
    enum reason asks;                    /* the first PERSON gate that asks, or NONE */
    bool counterfactual;
    uint32_t incident;                   /* index below */
    const struct gate_result *gates;
    uint16_t gate_n;
    struct replay_after after[REPLAY_AFTER_SIGNALS];
    uint16_t after_n;
};

struct replay_incident {
    uint64_t number;
    struct wall onset, opened, closed;   /* closed: WALL_NONE while open at the end */
    const struct record *first, *last_closed, *handover;   /* INCIDENT, CLOSED, HANDOVER; NULL: none */
    const char *symptoms[REPLAY_SYMPTOMS];
    uint16_t symptom_n;
    bool counterfactual;
    uint64_t ticks, reasons[REASON_COUNT];   /* ticks while it was open, by the reason of the decision */
    struct replay_after after[REPLAY_AFTER_SIGNALS];
    uint16_t after_n;
};

struct replay_service {
    const struct service_def *def;
    enum mode mode, class_mode[CLASS_COUNT];   /* of the file */
    struct replay_series *series;        /* one a signal */
    struct replay_knob knobs[POLICY_KNOBS_MAX];
    struct replay_release { int64_t at; const char *version; } *releases;
    size_t release_n, release_cap, release_next;
    uint64_t ticks, decisions[DECISION_COUNT], reasons[REASON_COUNT];
    uint64_t held[REASON_COUNT];         /* ticks of open incidents on which this code kept a plan from being made */
    struct replay_incident *incidents;
    size_t incident_n, incident_cap;
    struct replay_plan *plans;
    size_t plan_n, plan_cap;
    const struct record **others;        /* RELEASE, EXTERNAL, WARM: context */
    size_t other_n, other_cap;
    struct wall counterfactual_from;     /* WALL_NONE: no would-be action */
};

struct replay {
    struct policy *policy;               /* used, not freed; changed: targets detached, mode alert */
    struct replay_service *services;     /* one for each of the policy */
    struct wall from, until;
    uint64_t points, records, digest;
    struct arena arena;
};

/* NULL: out of memory. */
struct replay *replay_new(struct policy *policy);
void replay_free(struct replay *r);      /* takes NULL */

/* The history. Points at or before the newest of their signal are INVALID; LIMIT, MEMORY. */
enum status replay_point(struct replay *r, uint16_t service, uint16_t signal, struct wall at, double value, struct err *e);
/* The knob had this value from then on; only changes are kept. */
enum status replay_knob(struct replay *r, uint16_t service, uint16_t knob, struct wall at, double value, enum replay_origin o,
                        struct err *e);
enum status replay_release(struct replay *r, uint16_t service, struct wall at, const char *version, struct err *e);
/* First and last instant of all points; false: there is none. */
bool replay_bounds(const struct replay *r, struct wall *ret_first, struct wall *ret_last);

/* Once. Lives [from, until] through; what is older by at most `history` is imported. INVALID: no point lies in it. */
enum status replay_run(struct replay *r, struct wall from, struct wall until, struct span history, struct err *e);

/* Would the tick with this reason have held a plan back? Gates and outcomes of a pass do; states and mode alert do not. */
bool replay_holds(enum reason r);

#endif
