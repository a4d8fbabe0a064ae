/* One number over everything a run depends on. */
#include "loop/service.h"

static uint64_t mix(uint64_t h, const void *bytes, size_t len)
{
    const unsigned char *p = bytes;
    for (size_t i = 0; i < len; i++) h = (h ^ p[i]) * UINT64_C(0x100000001b3);
    return h;
}

static uint64_t digest_service(uint64_t h, const struct service_loop *s, struct instant now)
{
    struct buf b = BUF_INIT;
    control_canon(&s->control_policy, &s->control, now, &b);
    h = mix(h, b.data, b.len);
    buf_free(&b);
    uint64_t parts[2] = {detect_digest(s->detect), evidence_digest(&s->evidence)};
    h = mix(h, parts, sizeof parts);
    for (unsigned i = 0; i < s->def->symptom_count; i++) {
        uint8_t x[4] = {(uint8_t)s->symptoms[i].now, s->symptoms[i].history, s->symptoms[i].known,
                        (uint8_t)(s->symptoms[i].false_run > 255 ? 255 : s->symptoms[i].false_run)};
        h = mix(h, x, sizeof x);
    }
    return h;
}

uint64_t loop_digest(const struct loop *l)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (uint16_t i = 0; i < l->service_count; i++) h = digest_service(h, &l->services[i], l->now);
    uint64_t counts[3] = {l->counters.ticks, l->counters.actions, l->counters.rollbacks};
    return mix(h, counts, sizeof counts);
}
