/* One pass at work. Private to decide. */
#ifndef DECIDE_PASS_H
#define DECIDE_PASS_H

#include "base/check.h"
#include "decide/decide.h"

struct pass {
    const struct policy *policy;
    const struct service_def *service;
    const struct evidence *evidence;
    const struct standing *st;
};

/* One candidate under examination. */
struct attempt {
    uint16_t cause, knob;               /* knob < service->knob_count */
    enum direction direction;
    const struct knob_def *def;
    const struct knob_standing *standing;
    int tier;
    enum mode mode;
    bool spent;                         /* its cause is ruled out in this incident, by trying or by a release or outage */
    bool has_to;
    struct knob_value to;               /* one notch further */
    char no_to[120];                    /* why there is none */
};

/* What a gate says. FINAL: only a person can open it in this incident; WAIT: it opens by itself; DATA: it hangs on data. */
enum hold { HOLD_OPEN, HOLD_FINAL, HOLD_WAIT, HOLD_DATA };

struct gate {
    enum reason reason;
    enum hold (*look)(const struct pass *p, const struct attempt *a, struct gate_result *g);   /* fills numbers and note */
};

/* In the order of reason.def. SERVICE gates get no attempt (NULL). */
extern const struct gate gates_service[], gates_candidate[], gates_person[], gates_last[];
extern const uint16_t gates_service_count, gates_candidate_count, gates_person_count, gates_last_count;

struct buf;
void gate_note(struct gate_result *g, struct buf *text);       /* takes the text and frees it */
void gate_say(struct gate_result *g, const char *text);
void gate_numbers(struct gate_result *g, double lhs, double rhs, enum unit unit);
/* Shut until `until`: seconds left as the number, "until 04:10 UTC" as the note. Open when it is reached or NONE. */
enum hold gate_until(const struct pass *p, struct instant until, struct gate_result *g);
bool gate_overridden(const struct pass *p, enum reason r);
void until_text(struct buf *out, struct wall now, struct wall until);

#endif
