/* What locate and decide say: causes with verdicts, gates with numbers, one plan, one decision. */
#ifndef MODEL_PLAN_H
#define MODEL_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"
#include "base/tri.h"
#include "model/enums.h"
#include "model/reason.h"
#include "model/value.h"

#define PLAN_GATES_MAX 64
#define CAUSES_MAX 128

struct cause_result {
    uint16_t cause;              /* index in the service */
    enum cause_verdict verdict;
    enum tri when;
    double share;                /* of the latency growth, 0..1; NaN when it cannot be told */
    uint16_t known_signals;
    bool all_tried;              /* every candidate of it is excluded in this incident */
};

struct cause_list {
    struct cause_result items[CAUSES_MAX];   /* ranked, most likely cause first */
    uint16_t n;
};

struct gate_result {
    enum reason reason;
    bool shut;
    uint16_t cause, knob;        /* for CANDIDATE and PERSON gates; NO_INDEX else */
    enum direction direction;
    double lhs, rhs;             /* value and limit; NaN when the gate has no numbers */
    enum unit unit;
    char note[120];              /* "8 of 30 points", "until 04:10"; "" none */
};

struct plan {
    uint16_t cause, knob;
    enum direction direction;
    enum action_class class;
    struct knob_value from, to;
    uint8_t hash[32];            /* loop.md: SHA-256 of (incident, cause, knob, class, from, to, revision) */
};

struct decision {
    enum decision_kind kind;
    enum reason reason;          /* the one that explains the tick */
    bool has_plan;               /* also in mode alert (the would-have plan), and with noop: what waits for a shut SERVICE gate */
    struct plan plan;
    uint16_t advice_cause;       /* whose advice applies, or which cause is unknown (decide.h); NO_INDEX none */
    uint32_t person_gates;       /* bit per PERSON gate that is shut, counted from the first PERSON reason */
    struct gate_result gates[PLAN_GATES_MAX];
    uint16_t gate_count;
    uint16_t gates_left_out;     /* shut gates of candidates not taken that found no room */
};

#endif
