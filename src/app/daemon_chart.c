/* What pages with charts, lists and the past ask of store and loop. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "app/daemon.h"
#include "base/text.h"
#include "expr/expr.h"
#include "stats/shift.h"

#define BELIEF_EVERY_US (60 * US_PER_S)   /* nominal: how often what is believed normal is kept */

struct daemon_chart { float recent[V1_RECENT]; uint32_t n; int64_t belief_at; };

/* ---- kept as it happens ---- */

static struct daemon_chart *chart_of(struct daemon *d, uint16_t service)
{
    if (!d->charts) {
        d->charts = calloc(d->policy->service_count ? d->policy->service_count : 1u, sizeof *d->charts);
        d->chart_n = d->charts ? d->policy->service_count : 0;
    }
    return service < d->chart_n ? &d->charts[service] : NULL;
}

void daemon_chart_reset(struct daemon *d)
{
    free(d->charts);
    d->charts = NULL;
    d->chart_n = 0;
}

static void keep_belief(struct daemon *d, uint16_t service, int64_t at)
{
    const struct service_def *s = &d->policy->services[service];
    struct arena arena = ARENA_INIT;
    struct service_view v;
    struct err e;
    char names[2][POLICY_NAME_MAX + 16];
    loop_view(d->loop, service, &arena, &v);
    for (uint16_t i = 0; i < v.signal_count; i++) {
        const struct signal_view *x = &v.signals[i];
        if (x->baseline_why != WHY_KNOWN || !isfinite(x->baseline)) continue;
        snprintf(names[0], sizeof names[0], "%s" V1_BASELINE, s->signals[i].name);
        snprintf(names[1], sizeof names[1], "%s" V1_SCALE, s->signals[i].name);
        struct store_point two[2] = {
            {.service = s->name, .signal = names[0], .layer = s->signals[i].layer, .at = at, .value = x->baseline, .n = 1},
            {.service = s->name, .signal = names[1], .layer = s->signals[i].layer, .at = at, .value = x->baseline_scale, .n = 1},
        };
        (void)store_points_put(d->store, two, isfinite(x->baseline_scale) ? 2 : 1, &e);   /* what is dropped is counted */
    }
    arena_free(&arena);
}

void daemon_chart_points(struct daemon *d, const struct effect *e)
{
    struct daemon_chart *c = chart_of(d, e->service);
    uint16_t judge = d->policy->services[e->service].judge.latency;
    struct instant now;
    struct wall wall;
    if (!c) return;
    for (uint32_t i = 0; i < e->u.points.n; i++) {
        const struct point *p = &e->u.points.points[i];
        if (e->u.points.signals[i] != judge) continue;
        if (c->n == V1_RECENT) memmove(c->recent, c->recent + 1, (--c->n) * sizeof *c->recent);
        c->recent[c->n++] = p->why == WHY_KNOWN ? (float)p->value : NAN;
    }
    clock_now(&d->clock, &now, &wall);
    if (wall.us - c->belief_at < BELIEF_EVERY_US && wall.us >= c->belief_at) return;
    c->belief_at = wall.us;
    keep_belief(d, e->service, wall.us);
}

/* ---- asked ---- */

struct relay { const struct v1_sink *sink; };

static bool relay_record(void *arg, const struct store_entry *x)
{
    const struct v1_sink *sink = ((struct relay *)arg)->sink;
    return sink->record(sink->arg, x->seq, x->record, x->bytes, x->len);
}

static enum status get_back(void *ctx, const char *service, uint64_t before, const struct v1_sink *sink, struct err *e)
{
    struct relay relay = {sink};
    return store_records_back(((struct daemon *)ctx)->store, service, before, &(struct store_sink){relay_record, &relay}, e);
}

static bool relay_action(void *arg, const struct store_action_row *x)
{
    const struct v1_sink *sink = ((struct relay *)arg)->sink;
    struct v1_action row = {
        .action = x->action, .service = x->service, .knob = x->knob, .class = x->class, .cause = x->cause, .from = x->from,
        .to = x->to, .by = x->by, .verdict = x->verdict, .outcome = x->outcome, .last_kind = x->last_kind,
        .incident = x->incident, .automatic = x->automatic, .intended = {x->intended}, .applied = {x->applied},
        .last_at = {x->last_at},
    };
    return sink->action(sink->arg, &row);
}

static enum status get_actions(void *ctx, const char *service, uint32_t limit, const struct v1_sink *sink, struct err *e)
{
    struct relay relay = {sink};
    return store_actions(((struct daemon *)ctx)->store, service, INT64_MAX, limit,
                         &(struct store_action_sink){relay_action, &relay}, e);
}

static bool relay_revision(void *arg, const struct store_policy *x)
{
    const struct v1_sink *sink = ((struct relay *)arg)->sink;
    return sink->revision(sink->arg, &(struct v1_revision){x->revision, x->path, {x->loaded}});
}

static enum status get_revisions(void *ctx, const struct v1_sink *sink, struct err *e)
{
    struct relay relay = {sink};
    return store_policies(((struct daemon *)ctx)->store, &(struct store_policy_sink){relay_revision, &relay}, e);
}

static enum status get_policy_text(void *ctx, const char *revision, struct buf *out, struct err *e)
{
    return store_policy_get(((struct daemon *)ctx)->store, revision, out, e);
}

static bool relay_step(void *arg, const struct store_step *x)
{
    const struct v1_sink *sink = ((struct relay *)arg)->sink;
    return sink->step(sink->arg, &(struct v1_step){{x->at}, x->mean, x->min, x->max, x->known});
}

static enum status get_range(void *ctx, const char *service, const char *signal, struct wall from, struct wall to, int64_t step_us,
                             const struct v1_sink *sink, struct err *e)
{
    struct relay relay = {sink};
    return store_points_range(((struct daemon *)ctx)->store, service, signal, from.us, to.us, step_us,
                              &(struct store_step_sink){relay_step, &relay}, e);
}

static uint32_t get_recent(void *ctx, uint16_t service, const float **ret)
{
    const struct daemon *d = ctx;
    if (service >= d->chart_n) return 0;
    *ret = d->charts[service].recent;
    return d->charts[service].n;
}

static bool get_shift(const double *before, uint32_t n, const double *after, uint32_t m, double ret[3])
{
    if (n < 5 || m < 5 || n > 400 || m > 400) return false;
    double *scratch = calloc((size_t)n * m, sizeof *scratch);
    if (!scratch) return false;
    struct stats_shift s = stats_shift(before, n, after, m, scratch);
    free(scratch);
    ret[0] = s.d;
    ret[1] = s.lo;
    ret[2] = s.hi;
    return isfinite(s.d);
}

static const char *get_rule(const struct expr *x) { return x ? expr_text(x) : NULL; }

static uint64_t size_of(const struct daemon *d, const char *name)
{
    static const char *const ends[] = {"", "-wal"};
    uint64_t total = 0;
    char path[1200];
    struct stat st;
    for (unsigned i = 0; i < ARRAY_LEN(ends); i++) {
        snprintf(path, sizeof path, "%s/%s%s", d->data, name, ends[i]);
        if (stat(path, &st) == 0) total += (uint64_t)st.st_size;
    }
    return total;
}

static void get_store(void *ctx, struct v1_store *ret)
{
    struct daemon *d = ctx;
    struct store_health h;
    store_health(d->store, &h);
    *ret = (struct v1_store){.audit_bytes = size_of(d, "audit.db"), .metrics_bytes = size_of(d, "metrics.db"),
                             .waiting = h.waiting, .dropped = h.dropped};
    ret->metrics_budget = h.budget;
    if (h.metrics[0] || !h.evicted) (void)text_copy(ret->metrics_trouble, sizeof ret->metrics_trouble, h.metrics);
    else daemon_evicted_text(&h, ret->metrics_trouble, sizeof ret->metrics_trouble);
}

static void get_tls(void *ctx, char subject[200], struct wall *ends)
{
    struct http_tls_facts f;
    http_tls_facts(((struct daemon *)ctx)->tls, &f);
    (void)text_copy(subject, 200, f.subject);
    *ends = f.on ? (struct wall){f.not_after} : WALL_NONE;
}

void daemon_chart_open(struct daemon *d)
{
    struct v1_port *p = &d->v1;
    p->records_back = get_back;
    p->actions = get_actions;
    p->revisions = get_revisions;
    p->policy_text = get_policy_text;
    p->range = get_range;
    p->recent = get_recent;
    p->shift = get_shift;
    p->rule = get_rule;
    p->store = get_store;
    p->tls = get_tls;
}
