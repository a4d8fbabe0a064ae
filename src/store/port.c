#include "store/port.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "store/history.h"

#define ACKS_AT_ONCE 32

/* An append on its way. The store answers in order, so the head of the list is what the next ack is about. */
struct waiting { struct waiting *next; uint64_t token; enum status refused; char service[]; };

struct store_port {
    struct store *store;
    struct port_sink sink;
    const struct policy *policy;
    struct waiting *first, **last;
};

struct store_port *store_port_new(struct store *s, struct port_sink sink, const struct policy *policy)
{
    struct store_port *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    p->store = s;
    p->sink = sink;
    p->policy = policy;
    p->last = &p->first;
    return p;
}

void store_port_free(struct store_port *p)
{
    if (!p) return;
    for (struct waiting *w = p->first, *next; w; w = next) {
        next = w->next;
        free(w);
    }
    free(p);
}

void store_port_policy(struct store_port *p, const struct policy *policy) { p->policy = policy; }

static void append(void *ctx, const struct record *records, uint32_t n, uint64_t token, bool checkpoint)
{
    struct store_port *p = ctx;
    const char *service = record_get_text(&records[0], RF_SERVICE);
    size_t len = strlen(service) + 1;
    struct waiting *w = malloc(sizeof *w + len);
    (void)checkpoint;   /* every append is covered by one */
    CHECK(w != NULL);   /* an append without an answer would leave the service waiting for ever */
    *w = (struct waiting){.token = token};
    memcpy(w->service, service, len);
    w->refused = store_append(p->store, records, n, token, NULL);
    *p->last = w;
    p->last = &w->next;
}

struct log_port store_port_log(struct store_port *p) { return (struct log_port){p, append}; }

static struct waiting *pop(struct store_port *p)
{
    struct waiting *w = p->first;
    p->first = w->next;
    if (!p->first) p->last = &p->first;
    return w;
}

/* Answers the oldest append. Its service may be gone since; then nobody waits. */
static void answer(struct store_port *p, enum status status, uint64_t seq)
{
    struct waiting *w = pop(p);
    struct event e = {.kind = EVENT_ACK, .service = policy_service(p->policy, w->service)};
    e.u.ack.token = w->token;
    e.u.ack.status = status;
    e.u.ack.seq = seq;
    free(w);
    if (e.service != NO_INDEX) p->sink.deliver(p->sink.ctx, &e);
}

/* Those that never reached the store, up to the next one that did. */
static uint32_t answer_refused(struct store_port *p)
{
    uint32_t n = 0;
    for (; p->first && p->first->refused != STATUS_OK; n++) answer(p, p->first->refused, 0);
    return n;
}

uint32_t store_port_poll(struct store_port *p, bool *ret_fatal)
{
    struct store_ack acks[ACKS_AT_ONCE];
    uint32_t total = answer_refused(p), n;
    while ((n = store_poll(p->store, acks, ACKS_AT_ONCE)) > 0) {
        for (uint32_t i = 0; i < n; i++) {
            if (acks[i].fatal) *ret_fatal = true;
            CHECK(p->first && p->first->token == acks[i].token);
            answer(p, acks[i].status, acks[i].seq);
            total += 1 + answer_refused(p);
        }
    }
    return total;
}

struct fold { struct store_port *port; uint16_t service; };

static bool fold_one(void *arg, const struct store_entry *x)
{
    struct fold *f = arg;
    const struct policy *policy = f->port->policy;
    const char *name = record_get_text(x->record, RF_SERVICE);
    struct event e = {.kind = EVENT_RECORD, .service = f->service};
    /* Neighbouring records are mostly of one service. */
    if (f->service == NO_INDEX || strcmp(policy->services[f->service].name, name) != 0)
        e.service = f->service = policy_service(policy, name);
    e.u.record = x->record;
    if (e.service != NO_INDEX) f->port->sink.deliver(f->port->sink.ctx, &e);
    return true;
}

static void folded(struct store_port *p, uint16_t service)
{
    struct event e = {.kind = EVENT_FOLDED, .service = service};
    p->sink.deliver(p->sink.ctx, &e);
}

enum status store_port_fold(struct store_port *p, uint16_t service, struct err *e)
{
    struct fold f = {p, NO_INDEX};
    struct store_sink sink = {fold_one, &f};
    if (service != ALL_SERVICES) {
        CHECK(service < p->policy->service_count);
        enum status rc = store_records_of(p->store, p->policy->services[service].name, 0, &sink, e);
        if (rc == STATUS_OK) folded(p, service);
        return rc;
    }
    enum status rc = store_records(p->store, 0, &sink, e);
    for (uint16_t i = 0; rc == STATUS_OK && i < p->policy->service_count; i++) folded(p, i);
    return rc;
}

enum status store_port_state(struct store_port *p, uint16_t service, struct wall now, struct err *e)
{
    CHECK(service < p->policy->service_count);
    struct buf bytes = BUF_INIT;
    struct event ev = {.kind = EVENT_STATE, .service = service};
    int64_t saved = 0;
    enum status rc = store_state_get(p->store, p->policy->services[service].name, &saved, &bytes, e);
    if (rc == STATUS_OK) {
        ev.u.state.bytes = bytes.data;
        ev.u.state.len = bytes.len;
        ev.u.state.age = (struct span){now.us > saved ? now.us - saved : 0};   /* the clock may have stepped back */
        p->sink.deliver(p->sink.ctx, &ev);
    }
    buf_free(&bytes);
    return rc;
}

static enum status keep_points(struct store_port *p, const struct effect *e, struct instant now, struct wall wall,
                               struct err *err)
{
    const struct service_def *s = &p->policy->services[e->service];
    struct store_point *points = calloc(e->u.points.n ? e->u.points.n : 1, sizeof *points);
    if (!points) return err_set(err, STATUS_MEMORY, "no memory to keep %u points", e->u.points.n);
    for (uint32_t i = 0; i < e->u.points.n; i++) {
        const struct signal_def *signal = &s->signals[e->u.points.signals[i]];
        const struct point *x = &e->u.points.points[i];
        points[i] = (struct store_point){.service = s->name, .signal = signal->name, .layer = signal->layer,
                                         .at = wall.us - instant_since(now, x->at).us, .value = x->value, .n = x->n,
                                         .why = x->why};
    }
    enum status rc = store_points_put(p->store, points, e->u.points.n, err);
    free(points);
    return rc;
}

enum status store_port_keep(struct store_port *p, const struct effect *e, struct instant now, struct wall wall,
                            struct err *err)
{
    CHECK(e->service < p->policy->service_count);
    if (e->kind == EFFECT_POINTS) return keep_points(p, e, now, wall, err);
    if (e->kind != EFFECT_SAVE_STATE)
        return err_set(err, STATUS_INVALID, "effect %d is not for the store", (int)e->kind);
    return store_state_put(p->store, p->policy->services[e->service].name, wall.us, e->u.save_state.bytes,
                           e->u.save_state.len, err);
}
