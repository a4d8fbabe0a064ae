#include "decide/decide.h"

#include <sodium.h>
#include <string.h>

static void field(crypto_hash_sha256_state *h, const void *bytes, size_t len)
{
    uint8_t size[4] = {(uint8_t)len, (uint8_t)(len >> 8), (uint8_t)(len >> 16), (uint8_t)(len >> 24)};
    crypto_hash_sha256_update(h, size, sizeof size);
    crypto_hash_sha256_update(h, bytes, len);
}

static void text_field(crypto_hash_sha256_state *h, const char *text)
{
    field(h, text ? text : "", text ? strlen(text) : 0);
}

void decide_plan_hash(const struct policy *p, const struct service_def *s, uint64_t incident, struct plan *plan)
{
    static const char head[] = "trimtab plan 1\n";
    const struct cause_def *c = plan->cause < s->cause_count ? &s->causes[plan->cause] : NULL;
    uint8_t number[8];
    for (int i = 0; i < 8; i++) number[i] = (uint8_t)(incident >> (8 * i));
    crypto_hash_sha256_state h;
    crypto_hash_sha256_init(&h);
    crypto_hash_sha256_update(&h, (const uint8_t *)head, sizeof head - 1);
    text_field(&h, s->name);
    field(&h, number, sizeof number);
    text_field(&h, !c ? NULL : c->id ? c->id : c->name);
    text_field(&h, plan->knob < s->knob_count ? s->knobs[plan->knob].name : NULL);
    text_field(&h, class_name(plan->class));
    field(&h, plan->from.bytes, plan->from.len);
    field(&h, plan->to.bytes, plan->to.len);
    text_field(&h, p->revision);
    crypto_hash_sha256_final(&h, plan->hash);
}
