#include "model/policy.h"

#include <string.h>

uint16_t service_signal(const struct service_def *s, const char *name)
{
    for (uint16_t i = 0; i < s->signal_count; i++) {
        if (strcmp(s->signals[i].name, name) == 0) return i;
    }
    return NO_INDEX;
}

uint16_t service_knob(const struct service_def *s, const char *name)
{
    for (uint16_t i = 0; i < s->knob_count; i++) {
        if (strcmp(s->knobs[i].name, name) == 0) return i;
    }
    return NO_INDEX;
}

uint16_t policy_service(const struct policy *p, const char *name)
{
    for (uint16_t i = 0; i < p->service_count; i++) {
        if (strcmp(p->services[i].name, name) == 0) return i;
    }
    return NO_INDEX;
}

struct timing_def timing_defaults(void)
{
    return (struct timing_def){
        .settle = SPAN_MIN(2),
        .window = SPAN_MIN(10),
        .readback_hot = SPAN_S(60),
        .readback_reload = SPAN_MIN(5),
        .readback_restart = SPAN_MIN(15),
        .late_watch = SPAN_MIN(10),
        .approval = SPAN_MIN(15),
        .release_watch = SPAN_MIN(30),
        .freeze_baseline = SPAN_HOUR(2),
        .blind_after = SPAN_MIN(10),
        .cause_wait = SPAN_MIN(5),
        .renotify = SPAN_HOUR(4),
    };
}

const char *receiver_type_name(enum receiver_type t)
{
#define X(id, word) word,
    static const char *const names[] = {RECEIVER_TABLE(X)};
#undef X
    return names[t];
}
