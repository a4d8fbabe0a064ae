/* The target of the swarm: knobs over instances with versions, as an honest or a bad server keeps them. Instance 0 moves the
 * plant. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/num.h"
#include "sim/swarm_inside.h"

static void to_plant(struct swarm_service *s, unsigned knob)
{
    fluid_advance(s->fluid, s->w->now.us);
    const char *text = s->knobs[knob].at[0].text;
    (void)fluid_knob_set(s->fluid, s->def->knobs[knob].name, text, strlen(text), NULL,
        NULL);   /* what it refuses changes nothing */
}

void swarm_target_init(struct swarm_service *s)
{
    for (unsigned k = 0; k < s->def->knob_count; k++) {
        struct buf b = BUF_INIT;
        struct swarm_knob *t = &s->knobs[k];
        if (fluid_knob_get(s->fluid, s->def->knobs[k].name, &b, NULL) != STATUS_OK) buf_puts(&b, "1");
        t->version = 1;
        (void)text_copy(t->boot.text, sizeof t->boot.text, buf_text(&b));
        for (unsigned i = 0; i < SWARM_INSTANCES; i++) t->at[i] = t->boot;
        buf_free(&b);
    }
}

bool swarm_uniform(const struct swarm_service *s, unsigned knob, struct swarm_value *ret)
{
    const struct swarm_knob *t = &s->knobs[knob];
    *ret = t->at[0];
    for (unsigned i = 1; i < s->w->instances; i++) {
        if (strcmp(t->at[i].text, t->at[0].text) != 0) return false;
    }
    return true;
}

static void put(struct swarm_service *s, unsigned knob, const char *text, unsigned first, unsigned n)
{
    struct swarm_knob *t = &s->knobs[knob];
    for (unsigned i = first; i < first + n && i < s->w->instances; i++) (void)text_copy(t->at[i].text, sizeof t->at[i].text, text);
    t->version++;
    to_plant(s, knob);
    swarm_tell(s->w, "target %s := %s on %u from %u, version %llu", s->def->knobs[knob].name, text, n, first,
               (unsigned long long)t->version);
}

/* ---- writes ---- */

static struct later *land_at(struct swarm_service *s, const struct later *send, struct span after)
{
    struct later *l = swarm_later(s->w, LATER_LAND, instant_add(s->w->now, after), false);
    l->service = s->index;
    l->knob = send->knob;
    l->action = send->action;
    l->is_undo = send->is_undo;
    l->value = send->value;
    l->expect = send->expect;
    l->instances = (uint8_t)s->w->instances;
    l->answer = ANSWER_OK;
    l->epoch = s->w->p->life;             /* who waits for the answer */
    return l;
}

static void answer_at(struct swarm_service *s, const struct later *send, struct span after, enum answer_kind kind)
{
    struct later *l = swarm_later(s->w, LATER_ANSWER, instant_add(s->w->now, after), true);
    l->service = s->index;
    l->knob = send->knob;
    l->action = send->action;
    l->answer = kind;
}

static struct faults_item *bad_server(struct swarm_service *s)
{
    for (unsigned k = FAULTS_WRITE_SLOW; k <= FAULTS_WRITE_ROLLING; k++) {
        struct faults_item *i = swarm_fault_now(s, (enum faults_kind)k);
        if (i) return i;
    }
    return NULL;
}

static void clamp(struct later *land)
{
    double from, to;
    if (!land->expect.is_number || !land->value.is_number) return;
    from = land->expect.decimal;
    to = land->value.decimal;
    double v = floor((from + to) / 2);
    if (v > from && v < to) knob_value_set_number(&land->value, v);
}

static void bad_write(struct swarm_service *s, struct later *l, struct faults_item *i)
{
    struct span readback = s->def->knobs[l->knob].readback, late = s->def->timing.late_watch;
    struct later *land;
    switch ((enum faults_kind)i->kind) {
    case FAULTS_WRITE_SLOW: (void)land_at(s, l, SPAN_MS(10 + prng_below(&i->chance, 4900))); break;
    case FAULTS_WRITE_REFUSE: answer_at(s, l, SPAN_MS(4), ANSWER_REFUSED); break;
    case FAULTS_WRITE_ERROR_APPLIED: land_at(s, l, SPAN_MS(3))->answer = ANSWER_ERROR; break;
    case FAULTS_WRITE_ERROR: answer_at(s, l, SPAN_MS(4), ANSWER_ERROR); break;
    case FAULTS_WRITE_LIE: answer_at(s, l, SPAN_MS(4), ANSWER_OK); break;
    case FAULTS_WRITE_LATE:
        land = land_at(s, l, (struct span){(int64_t)prng_below(&i->chance, (uint64_t)(readback.us + late.us))});
        land->answered_only = true;
        answer_at(s, l, SPAN_S(5), ANSWER_TIMEOUT);
        break;
    case FAULTS_WRITE_VERY_LATE:
        land = land_at(s, l, (struct span){readback.us + late.us + (int64_t)prng_below(&i->chance, US_PER_HOUR)});
        land->answered_only = true;
        answer_at(s, l, SPAN_S(5), ANSWER_TIMEOUT);
        break;
    case FAULTS_WRITE_CLAMP: clamp(land_at(s, l, SPAN_MS(3))); break;
    case FAULTS_WRITE_PART: land_at(s, l, SPAN_MS(3))->instances = 1; break;
    default:
        land_at(s, l, SPAN_MS(3))->instances = 1;
        land = land_at(s, l, SPAN_MS(4 + prng_below(&i->chance, 90000)));
        land->answered_only = true;
        land->checked = true;        /* the first instance has already taken it: the version has moved by ourselves */
        break;
    }
}

/* As daemon_may_send: the process is alive and leads, and nobody has halted since the write was planned. */
void swarm_send(struct swarm_service *s, struct later *l)
{
    if (!swarm_leads(s->w) || !loop_may_send(s->w->p->loop, s->index, l->epoch) || l->knob >= s->def->knob_count) {
        answer_at(s, l, SPAN_MS(0), ANSWER_NOT_SENT);
        return;
    }
    if (s->w->o.sabotage && l->is_undo) l->value = l->expect;
    struct faults_item *i = bad_server(s);
    swarm_tell(s->w, "send %s %.*s (action %u%s)%s%s", s->def->knobs[l->knob].name, (int)l->value.len, l->value.bytes, l->action,
               l->is_undo ? ", undo" : "", i ? " to a server with " : "", i ? faults_word((enum faults_kind)i->kind) : "");
    if (l->is_undo) s->w->result->undos++;
    else s->w->result->writes++;
    invariants_send(s, l->knob, &l->value, l->action, l->is_undo, l->sampled);
    if (i) bad_write(s, l, i);
    else (void)land_at(s, l, SPAN_MS(3));
}

static bool precondition_holds(const struct swarm_service *s, const struct later *l)
{
    const struct swarm_knob *t = &s->knobs[l->knob];
    char text[64];
    if (l->checked || s->w->cas == CAS_NONE) return true;
    if (s->w->cas == CAS_VERSION) {       /* the loop knows the versions of all instances as one text, a line each */
        size_t n = 0;
        for (unsigned i = 0; i < s->w->instances; i++) {
            const char *end = s->w->instances > 1 ? "\n" : "";
            n += (size_t)snprintf(text + n, sizeof text - n, "%llu%s", (unsigned long long)t->version, end);
        }
        return l->expect.version_len == 0 || (n == l->expect.version_len && memcmp(text, l->expect.version, n) == 0);
    }
    snprintf(text, sizeof text, "%.*s", (int)l->expect.len, l->expect.bytes);
    for (unsigned i = 0; i < s->w->instances; i++) {
        if (strcmp(t->at[i].text, text) == 0) return true;
    }
    return false;
}

/* The process that has sent it is there still: it gets the answer. */
static bool waits_for_it(struct swarm *w, uint32_t life)
{
    for (unsigned i = 0; i < SWARM_PROCESSES; i++) {
        if (w->processes[i].life != life || !w->processes[i].loop) continue;
        w->p = &w->processes[i];
        return true;
    }
    return false;
}

void swarm_land(struct swarm_service *s, struct later *l)
{
    char text[64];
    bool ok = l->knob < s->def->knob_count && precondition_holds(s, l);
    snprintf(text, sizeof text, "%.*s", (int)l->value.len, l->value.bytes);
    if (ok) put(s, l->knob, text, 0, l->instances);
    else swarm_tell(s->w, "target refuses: the precondition does not hold");
    if (l->answered_only || !waits_for_it(s->w, l->epoch)) return;
    struct later *a = swarm_later(s->w, LATER_ANSWER, instant_add(s->w->now, SPAN_MS(3)), true);
    a->service = s->index;
    a->knob = l->knob;
    a->action = l->action;
    a->answer = ok ? l->answer : ANSWER_REFUSED;
    a->token = ok ? s->knobs[l->knob].version : 0;
}

/* ---- reads ---- */

void swarm_sample(struct swarm_service *s, struct later *l)
{
    if (l->knob >= s->def->knob_count) return;
    const struct swarm_knob *t = &s->knobs[l->knob];
    struct read_vector *v = calloc(1, sizeof *v);
    CHECK(v != NULL);
    bool fails = swarm_fault_now(s, FAULTS_READ_FAILS) != NULL || !fluid_up(s->fluid);
    v->n = (uint16_t)s->w->instances;
    v->failed = fails ? 1 : 0;
    for (unsigned i = 0; i < s->w->instances && !fails; i++) {
        char version[32];
        (void)knob_value_set(&v->values[i], t->at[i].text, (unsigned)strlen(t->at[i].text));
        int n = snprintf(version, sizeof version, "%llu", (unsigned long long)t->version);
        if (s->w->cas == CAS_VERSION) (void)knob_value_set_version(&v->values[i], version, (unsigned)n);
    }
    struct later *r = swarm_later(s->w, LATER_READ, instant_add(s->w->now, SPAN_MS(1)), true);
    r->service = s->index;
    r->knob = l->knob;
    r->vector = v;
    r->sampled = s->w->now;
}

/* ---- people at the target ---- */

static const struct record *newest_intent(const struct swarm_service *s, const char *knob)
{
    for (size_t n = s->w->log_n; n-- > 0;) {
        const struct record *r = s->w->log[n];
        if (r->kind != RECORD_INTENT || !text_eq(record_get_text(r, RF_SERVICE), s->def->name)) continue;
        if (!knob || text_eq(record_get_text(r, RF_KNOB), knob)) return r;
    }
    return NULL;
}

/* The knob of our newest action, else any. */
static unsigned interesting(struct swarm_service *s, struct faults_item *i)
{
    const struct record *r = newest_intent(s, NULL);
    uint16_t k = r ? service_knob(s->def, record_get_text(r, RF_KNOB)) : NO_INDEX;
    if (k != NO_INDEX && prng_below(&i->chance, 5) != 0) return k;
    return (unsigned)prng_below(&i->chance, s->def->knob_count);
}

void swarm_hand(struct swarm_service *s, struct faults_item *i)
{
    unsigned k = interesting(s, i);
    const struct record *r = newest_intent(s, s->def->knobs[k].name);
    char text[64];
    double now = 0;
    (void)num_parse_all(s->knobs[k].at[0].text, strlen(s->knobs[k].at[0].text), &now);
    struct buf b = BUF_INIT;
    buf_double(&b, now + 1 + (double)prng_below(&i->chance, 3));
    (void)text_copy(text, sizeof text, buf_text(&b));
    buf_free(&b);
    swarm_tell(s->w, "by hand: %s", faults_word((enum faults_kind)i->kind));
    switch ((enum faults_kind)i->kind) {
    case FAULTS_TARGET_DEFAULTS:
        for (unsigned n = 0; n < s->def->knob_count; n++) {
            if (strcmp(s->knobs[n].at[0].text, s->knobs[n].boot.text) != 0) put(s, n, s->knobs[n].boot.text, 0, s->w->instances);
        }
        return;
    case FAULTS_HAND_OLD: if (r) (void)text_copy(text, sizeof text, record_get_text(r, RF_FROM)); break;
    case FAULTS_HAND_NEW: if (r) (void)text_copy(text, sizeof text, record_get_text(r, RF_TO)); break;
    case FAULTS_HAND_PART:
        put(s, k, text, s->w->instances - 1, 1);
        return;
    default: break;
    }
    put(s, k, text, 0, s->w->instances);
}
