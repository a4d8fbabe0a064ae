/* The target of the swarm: knobs over instances with versions, as an honest or a bad server keeps them. Instance 0 moves the
 * plant. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/num.h"
#include "sim/swarm_inside.h"

static void to_plant(struct swarm *w, unsigned knob)
{
    fluid_advance(w->fluid, w->now.us);
    const char *text = w->knobs[knob].at[0].text;
    (void)fluid_knob_set(w->fluid, w->service->knobs[knob].name, text, strlen(text), NULL,
        NULL);   /* what it refuses changes nothing */
}

void swarm_target_init(struct swarm *w)
{
    for (unsigned k = 0; k < w->service->knob_count; k++) {
        struct buf b = BUF_INIT;
        struct swarm_knob *t = &w->knobs[k];
        if (fluid_knob_get(w->fluid, w->service->knobs[k].name, &b, NULL) != STATUS_OK) buf_puts(&b, "1");
        t->present = true;
        t->version = 1;
        (void)text_copy(t->boot.text, sizeof t->boot.text, buf_text(&b));
        for (unsigned i = 0; i < SWARM_INSTANCES; i++) t->at[i] = t->boot;
        buf_free(&b);
    }
}

bool swarm_uniform(const struct swarm *w, unsigned knob, struct swarm_value *ret)
{
    const struct swarm_knob *t = &w->knobs[knob];
    *ret = t->at[0];
    for (unsigned i = 1; i < w->instances; i++) {
        if (strcmp(t->at[i].text, t->at[0].text) != 0) return false;
    }
    return true;
}

static void put(struct swarm *w, unsigned knob, const char *text, unsigned first, unsigned n)
{
    struct swarm_knob *t = &w->knobs[knob];
    for (unsigned i = first; i < first + n && i < w->instances; i++) (void)text_copy(t->at[i].text, sizeof t->at[i].text, text);
    t->version++;
    to_plant(w, knob);
    swarm_tell(w, "target %s := %s on %u from %u, version %llu", w->service->knobs[knob].name, text, n, first,
               (unsigned long long)t->version);
}

/* ---- writes ---- */

static struct later *land_at(struct swarm *w, const struct later *send, struct span after)
{
    struct later *l = swarm_later(w, LATER_LAND, instant_add(w->now, after), false);
    l->knob = send->knob;
    l->action = send->action;
    l->is_undo = send->is_undo;
    l->value = send->value;
    l->expect = send->expect;
    l->instances = (uint8_t)w->instances;
    l->answer = ANSWER_KIND_OK;
    l->epoch = w->life;              /* who waits for the answer */
    return l;
}

static void answer_at(struct swarm *w, const struct later *send, struct span after, enum answer_kind kind)
{
    struct later *l = swarm_later(w, LATER_ANSWER, instant_add(w->now, after), true);
    l->knob = send->knob;
    l->action = send->action;
    l->answer = kind;
}

static struct faults_item *bad_server(struct swarm *w)
{
    for (unsigned k = FAULTS_WRITE_SLOW; k <= FAULTS_WRITE_ROLLING; k++) {
        struct faults_item *i = faults_now(&w->faults, (enum faults_kind)k, w->now);
        if (i) return i;
    }
    return NULL;
}

static void clamp(struct swarm *w, struct later *land)
{
    double from, to;
    if (!land->expect.is_number || !land->value.is_number) return;
    from = land->expect.decimal;
    to = land->value.decimal;
    (void)w;
    double v = floor((from + to) / 2);
    if (v > from && v < to) knob_value_set_number(&land->value, v);
}

static void bad_write(struct swarm *w, struct later *l, struct faults_item *i)
{
    struct span readback = w->service->knobs[l->knob].readback, late = w->service->timing.late_watch;
    struct later *land;
    switch ((enum faults_kind)i->kind) {
    case FAULTS_WRITE_SLOW: (void)land_at(w, l, SPAN_MS(10 + prng_below(&i->chance, 4900))); break;
    case FAULTS_WRITE_REFUSE: answer_at(w, l, SPAN_MS(4), ANSWER_KIND_REFUSED); break;
    case FAULTS_WRITE_ERROR_APPLIED: land_at(w, l, SPAN_MS(3))->answer = ANSWER_KIND_ERROR; break;
    case FAULTS_WRITE_ERROR: answer_at(w, l, SPAN_MS(4), ANSWER_KIND_ERROR); break;
    case FAULTS_WRITE_LIE: answer_at(w, l, SPAN_MS(4), ANSWER_KIND_OK); break;
    case FAULTS_WRITE_LATE:
        land = land_at(w, l, (struct span){(int64_t)prng_below(&i->chance, (uint64_t)(readback.us + late.us))});
        land->answered_only = true;
        answer_at(w, l, SPAN_S(5), ANSWER_KIND_TIMEOUT);
        break;
    case FAULTS_WRITE_VERY_LATE:
        land = land_at(w, l, (struct span){readback.us + late.us + (int64_t)prng_below(&i->chance, US_PER_HOUR)});
        land->answered_only = true;
        answer_at(w, l, SPAN_S(5), ANSWER_KIND_TIMEOUT);
        break;
    case FAULTS_WRITE_CLAMP: clamp(w, land_at(w, l, SPAN_MS(3))); break;
    case FAULTS_WRITE_PART: land_at(w, l, SPAN_MS(3))->instances = 1; break;
    default:
        land_at(w, l, SPAN_MS(3))->instances = 1;
        land = land_at(w, l, SPAN_MS(4 + prng_below(&i->chance, 90000)));
        land->answered_only = true;
        land->checked = true;        /* the first instance has already taken it: the version has moved by ourselves */
        break;
    }
}

/* As daemon_may_send: the process is alive, and nobody has halted since the write was planned. */
void swarm_send(struct swarm *w, struct later *l)
{
    if (loop_control(w->loop, 0)->epoch != l->epoch || l->knob >= w->service->knob_count) {
        answer_at(w, l, SPAN_MS(0), ANSWER_KIND_NOT_SENT);
        return;
    }
    struct faults_item *i = bad_server(w);
    swarm_tell(w, "send %s %.*s (action %u%s)%s%s", w->service->knobs[l->knob].name, (int)l->value.len, l->value.bytes, l->action,
               l->is_undo ? ", undo" : "", i ? " to a server with " : "", i ? faults_word((enum faults_kind)i->kind) : "");
    if (l->is_undo) w->result->undos++;
    else w->result->writes++;
    invariants_send(w, l->knob, &l->value, l->action, l->is_undo, l->sampled);
    if (i) bad_write(w, l, i);
    else (void)land_at(w, l, SPAN_MS(3));
}

static bool precondition_holds(const struct swarm *w, const struct later *l)
{
    const struct swarm_knob *t = &w->knobs[l->knob];
    char text[64];
    if (l->checked || w->cas == CAS_NONE) return true;
    if (w->cas == CAS_VERSION) {       /* the loop knows the versions of all instances as one text, a line each */
        size_t n = 0;
        for (unsigned i = 0; i < w->instances; i++) {
            n += (size_t)snprintf(text + n, sizeof text - n, w->instances > 1 ? "%llu\n" : "%llu", (unsigned long long)t->version);
        }
        return l->expect.version_len == 0 || (n == l->expect.version_len && memcmp(text, l->expect.version, n) == 0);
    }
    snprintf(text, sizeof text, "%.*s", (int)l->expect.len, l->expect.bytes);
    for (unsigned i = 0; i < w->instances; i++) {
        if (strcmp(t->at[i].text, text) == 0) return true;
    }
    return false;
}

void swarm_land(struct swarm *w, struct later *l)
{
    char text[64];
    bool ok = l->knob < w->service->knob_count && precondition_holds(w, l);
    snprintf(text, sizeof text, "%.*s", (int)l->value.len, l->value.bytes);
    if (ok) put(w, l->knob, text, 0, l->instances);
    else swarm_tell(w, "target refuses: the precondition does not hold");
    if (l->answered_only || l->epoch != w->life) return;
    struct later *a = swarm_later(w, LATER_ANSWER, instant_add(w->now, SPAN_MS(3)), true);
    a->knob = l->knob;
    a->action = l->action;
    a->answer = ok ? l->answer : ANSWER_KIND_REFUSED;
    a->token = ok ? w->knobs[l->knob].version : 0;
}

/* ---- reads ---- */

void swarm_sample(struct swarm *w, struct later *l)
{
    if (l->knob >= w->service->knob_count) return;
    const struct swarm_knob *t = &w->knobs[l->knob];
    struct read_vector *v = calloc(1, sizeof *v);
    CHECK(v != NULL);
    bool fails = faults_now(&w->faults, FAULTS_READ_FAILS, w->now) != NULL || !fluid_up(w->fluid);
    v->n = (uint16_t)w->instances;
    v->failed = fails ? 1 : 0;
    for (unsigned i = 0; i < w->instances && !fails; i++) {
        char version[32];
        (void)knob_value_set(&v->values[i], t->at[i].text, (unsigned)strlen(t->at[i].text));
        int n = snprintf(version, sizeof version, "%llu", (unsigned long long)t->version);
        if (w->cas == CAS_VERSION) (void)knob_value_set_version(&v->values[i], version, (unsigned)n);
    }
    struct later *r = swarm_later(w, LATER_READ, instant_add(w->now, SPAN_MS(1)), true);
    r->knob = l->knob;
    r->vector = v;
    r->sampled = w->now;
}

/* ---- people at the target ---- */

/* The knob of our newest action, else any. */
static unsigned interesting(struct swarm *w, struct faults_item *i)
{
    for (size_t n = w->log_n; n-- > 0;) {
        if (w->log[n]->kind != RECORD_INTENT) continue;
        uint16_t k = service_knob(w->service, record_get_text(w->log[n], RF_KNOB));
        if (k != NO_INDEX && prng_below(&i->chance, 5) != 0) return k;
        break;
    }
    return (unsigned)prng_below(&i->chance, w->service->knob_count);
}

static const struct record *newest_intent(const struct swarm *w, unsigned knob)
{
    for (size_t n = w->log_n; n-- > 0;) {
        const struct record *r = w->log[n];
        if (r->kind == RECORD_INTENT && text_eq(record_get_text(r, RF_KNOB), w->service->knobs[knob].name)) return r;
    }
    return NULL;
}

void swarm_hand(struct swarm *w, struct faults_item *i)
{
    unsigned k = interesting(w, i);
    const struct record *r = newest_intent(w, k);
    char text[64];
    double now = 0;
    (void)num_parse_all(w->knobs[k].at[0].text, strlen(w->knobs[k].at[0].text), &now);
    struct buf b = BUF_INIT;
    buf_double(&b, now + 1 + (double)prng_below(&i->chance, 3));
    (void)text_copy(text, sizeof text, buf_text(&b));
    buf_free(&b);
    swarm_tell(w, "by hand: %s", faults_word((enum faults_kind)i->kind));
    switch ((enum faults_kind)i->kind) {
    case FAULTS_TARGET_DEFAULTS:
        for (unsigned n = 0; n < w->service->knob_count; n++) {
            if (strcmp(w->knobs[n].at[0].text, w->knobs[n].boot.text) != 0) put(w, n, w->knobs[n].boot.text, 0, w->instances);
        }
        return;
    case FAULTS_HAND_OLD: if (r) (void)text_copy(text, sizeof text, record_get_text(r, RF_FROM)); break;
    case FAULTS_HAND_NEW: if (r) (void)text_copy(text, sizeof text, record_get_text(r, RF_TO)); break;
    case FAULTS_HAND_PART:
        put(w, k, text, w->instances - 1, 1);
        return;
    default: break;
    }
    put(w, k, text, 0, w->instances);
}
