/* A service with two knobs for tests of the control step alone. Values are ids 1, 2, 3; version 0 unless a test says so.
 * Include support/test.h first. */
#ifndef LOOP_CONTROL_TEST_H
#define LOOP_CONTROL_TEST_H

#include "loop/control.h"

#define AT(s) ((struct instant){1000000 * US_PER_S + (int64_t)(s) * US_PER_S})

struct control_bench {
    struct control_policy p;
    struct control c;
    struct control_event e;
    struct control_output o;
};

static inline void reads_all(struct control_bench *b, uint16_t first, uint16_t second)
{
    for (unsigned k = 0; k < 2; k++) {
        struct control_read *r = &b->e.reads[k];
        *r = (struct control_read){.present = true, .readable = true, .n = 1};
        r->values[0] = k == 0 ? first : second;
    }
}

/* Knob 0 on two instances that differ. */
static inline void reads_mixed(struct control_bench *b)
{
    reads_all(b, 1, 1);
    b->e.reads[0].n = 2;
    b->e.reads[0].values[1] = 2;
}

static inline void event(struct control_bench *b, enum control_event_kind kind, int at_s)
{
    b->e = (struct control_event){.kind = kind, .now = AT(at_s), .knob = NO_KNOB, .policy_allows_new = true,
                                  .old_known_good = true, .service_gates_open = true, .warm = true, .symptom = TRI_TRUE};
    reads_all(b, 1, 1);
}

static inline void bench_start(struct control_bench *b, enum state state)
{
    memset(b, 0, sizeof *b);
    b->p = (struct control_policy){.knob_count = 2, .late_watch = SPAN_MIN(10), .approval = SPAN_MIN(15),
        .release_watch = SPAN_MIN(30), .append_timeout = SPAN_S(5), .renotify = SPAN_HOUR(4), .protect_cool = SPAN_HOUR(24),
        .suspend = SPAN_HOUR(24), .freeze_knob = SPAN_HOUR(24)};
    for (unsigned k = 0; k < 2; k++) {
        b->p.knobs[k] = (struct control_knob_policy){.class = (uint8_t)(k ? CLASS_CACHE : CLASS_BATCH), .tier = 1,
            .cas = CAS_VALUE, .listed = true, .interval = SPAN_HOUR(4), .protect = SPAN_HOUR(24), .readback = SPAN_S(60)};
    }
    control_init(&b->c, &b->p, AT(0));
    b->c.state = (uint8_t)state;
    for (unsigned k = 0; k < 2; k++) {
        b->c.knobs[k].seen = true;
        b->c.knobs[k].believed = 1;
    }
    event(b, CE_TICK, 0);
}

static inline void bench_fold(struct control_bench *b, enum record_kind kind, struct control_record r)
{
    r.kind = kind;
    if (!instant_is_set(r.at) || r.at.us == 0) r.at = AT(0);
    r.expiry = instant_is_set(r.expiry) && r.expiry.us ? r.expiry : INSTANT_NEVER;
    if (r.knob == 0) {
        r.old = 1;
        r.new_ = 2;
        r.cause = 7;
        r.action = 1;
        r.settle = SPAN_MIN(2);
        r.window = SPAN_MIN(10);
    }
    control_fold(&b->p, &b->c, &r);
}

static inline void bench_incident(struct control_bench *b)
{
    bench_fold(b, RECORD_INCIDENT, (struct control_record){.knob = NO_KNOB, .incident = 1, .onset = AT(0)});
}

/* In `state` with an action on knob 0, 1 -> 2, told by an INTENT at AT(0); with APPLIED where the state needs it. */
static inline void bench_action(struct control_bench *b, enum state state)
{
    bench_start(b, state);
    bench_incident(b);
    bench_fold(b, RECORD_INTENT, (struct control_record){.knob = 0, .automatic = true});
    bool applied = state == STATE_SETTLING || state == STATE_OBSERVING || state == STATE_UNDO_INTENT ||
                   state == STATE_UNDO_WRITING || state == STATE_UNDO_READBACK;
    if (applied) bench_fold(b, RECORD_APPLIED, (struct control_record){.knob = 0});
    b->c.active = 0;
    b->c.deadline = AT(60);
}

static inline uint16_t bench_step(struct control_bench *b) { return control_step(&b->p, &b->c, &b->e, &b->o); }

static inline void bench_ack(struct control_bench *b)
{
    struct control_event e = {.kind = CE_ACK, .now = b->e.now, .token = b->c.token, .knob = NO_KNOB};
    (void)control_step(&b->p, &b->c, &e, &b->o);
}

#endif
