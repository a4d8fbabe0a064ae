/* What earlier changes did: one row an action, and how often it helped by knob, direction, cause, load and model version. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/v1_inside.h"
#include "base/check.h"
#include "base/num.h"
#include "base/text.h"

#define ACTIONS_MAX 300
#define LOAD_BEFORE_US (300 * US_PER_S)
#define LOAD_BAND 0.15               /* of its own normal: within it the load is usual */

struct row {
    char action[100], service[POLICY_NAME_MAX + 1], knob[POLICY_NAME_MAX + 1], class[24], cause[100], from[64], to[64], by[64];
    char verdict[24], outcome[24], last_kind[24], direction[8], model_version[64];
    uint64_t incident;
    bool automatic, undone;
    struct wall intended, applied;
    double gain;                     /* part of the judging latency that was saved; NaN: not judged */
    const char *load;                /* NULL: not known */
};

struct listing { struct row *rows; unsigned n, limit; const char *knob, *cause; struct wall since; };

static bool add_row(void *arg, const struct v1_action *x)
{
    struct listing *l = arg;
    if (x->intended.us < l->since.us) return false;
    if (l->knob[0] && !text_eq(l->knob, x->knob)) return true;
    if (l->cause[0] && !text_eq(l->cause, x->cause)) return true;
    struct row *r = &l->rows[l->n++];
    *r = (struct row){.incident = x->incident, .automatic = x->automatic, .intended = x->intended, .applied = x->applied,
                      .gain = NAN};
    const struct { char *to; size_t cap; const char *from; } texts[] = {
        {r->action, sizeof r->action, x->action}, {r->service, sizeof r->service, x->service}, {r->knob, sizeof r->knob, x->knob},
        {r->class, sizeof r->class, x->class}, {r->cause, sizeof r->cause, x->cause}, {r->from, sizeof r->from, x->from},
        {r->to, sizeof r->to, x->to}, {r->by, sizeof r->by, x->by}, {r->verdict, sizeof r->verdict, x->verdict},
        {r->outcome, sizeof r->outcome, x->outcome}, {r->last_kind, sizeof r->last_kind, x->last_kind},
    };
    for (unsigned i = 0; i < ARRAY_LEN(texts); i++) (void)text_copy(texts[i].to, texts[i].cap, texts[i].from);
    return l->n < l->limit;
}

/* ---- what the records of the action add ---- */

static double median_in(const char *list)
{
    double v = NAN;
    const char *at = strstr(list, "median ");
    size_t len = at ? strcspn(at + 7, ", ") : 0;
    return at && num_parse_all(at + 7, len, &v) ? v : NAN;
}

static bool add_facts(void *arg, uint64_t seq, const struct record *r, const char *bytes, size_t len)
{
    struct row *x = arg;
    (void)seq, (void)bytes, (void)len;
    if (r->kind == RECORD_INTENT) {
        (void)text_copy(x->model_version, sizeof x->model_version, record_get_text(r, RF_MODEL_VERSION));
        (void)text_copy(x->direction, sizeof x->direction, record_get_text(r, RF_DIRECTION));
    }
    if (r->kind == RECORD_VERDICT) {
        double before = median_in(record_get_text(r, RF_BEFORE)), after = median_in(record_get_text(r, RF_AFTER));
        if (before > 0 && isfinite(after)) x->gain = (before - after) / before;
    }
    if (r->kind == RECORD_UNDONE) x->undone = true;
    return true;
}

/* ---- how busy it was, against its own normal ---- */

struct mean { double sum; unsigned n; };

static bool add_mean(void *arg, const struct v1_step *s)
{
    struct mean *m = arg;
    if (isfinite(s->mean)) m->sum += s->mean, m->n++;
    return true;
}

static double mean_before(const struct v1_port *port, const char *service, const char *signal, struct wall at)
{
    struct mean m = {0};
    struct err e;
    const struct v1_sink sink = {.arg = &m, .step = add_mean};
    struct wall from = {at.us - LOAD_BEFORE_US};
    return port->range(port->ctx, service, signal, from, at, 0, &sink, &e) == STATUS_OK && m.n ? m.sum / m.n : NAN;
}

static const char *load_of(struct api *api, const struct row *x)
{
    const struct policy *p = api->control.policy(api->control.ctx);
    uint16_t i = policy_service(p, x->service);
    if (i == NO_INDEX) return NULL;
    const struct judge_def *j = &p->services[i].judge;
    uint16_t signal = j->arrivals != NO_INDEX ? j->arrivals : j->throughput;
    char believed[POLICY_NAME_MAX + 16];
    if (signal >= p->services[i].signal_count) return NULL;
    const char *name = p->services[i].signals[signal].name;
    snprintf(believed, sizeof believed, "%s" V1_BASELINE, name);
    double now = mean_before(api->v1, x->service, name, x->intended), usual = mean_before(api->v1, x->service, believed,
            x->intended);
    if (!(usual > 0) || !isfinite(now)) return NULL;
    return now < (1 - LOAD_BAND) * usual ? "low" : now > (1 + LOAD_BAND) * usual ? "high" : "usual";
}

/* ---- groups ---- */

struct group { const struct row *like; unsigned verdicts[5], tried, back, gains; double gain[ACTIONS_MAX]; };

static const char *const verdict_words[5] = {"effective", "partial", "ineffective", "harmful", "inconclusive"};

static bool alike(const struct row *a, const struct row *b)
{
    return text_eq(a->service, b->service) && text_eq(a->knob, b->knob) && text_eq(a->direction, b->direction) &&
           text_eq(a->cause, b->cause) && text_eq(a->load ? a->load : "", b->load ? b->load : "") &&
           text_eq(a->model_version, b->model_version);
}

static int rising(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void group_json(struct emit *e, struct group *g)
{
    qsort(g->gain, g->gains, sizeof *g->gain, rising);
    unsigned h = g->gains / 2;
    emit_open(e, NULL, '{');
    emit_text(e, "service", g->like->service);
    emit_text(e, "knob", g->like->knob);
    emit_text_or_null(e, "direction", g->like->direction);
    emit_text_or_null(e, "cause", g->like->cause);
    emit_text(e, "load", g->like->load);
    emit_text_or_null(e, "model_version", g->like->model_version);
    emit_int(e, "tried", g->tried);
    for (unsigned i = 0; i < 5; i++) emit_int(e, verdict_words[i], g->verdicts[i]);
    emit_int(e, "rolled_back", g->back);
    emit_number(e, "median_gain", !g->gains ? NAN : g->gains % 2 ? g->gain[h] : (g->gain[h - 1] + g->gain[h]) / 2);
    emit_close(e, '}');
}

static void groups_json(struct emit *e, const struct row *rows, unsigned n)
{
    bool *told = calloc(n ? n : 1, sizeof *told);
    struct group *g = calloc(1, sizeof *g);
    CHECK_MEMORY(told && g);
    emit_open(e, "groups", '[');
    for (unsigned i = 0; i < n; i++) {
        if (told[i]) continue;
        *g = (struct group){.like = &rows[i]};
        for (unsigned k = i; k < n; k++) {
            if (told[k] || !alike(&rows[i], &rows[k])) continue;
            told[k] = true;
            g->tried++;
            g->back += rows[k].undone;
            for (unsigned v = 0; v < 5; v++) g->verdicts[v] += text_eq(rows[k].verdict, verdict_words[v]);
            if (isfinite(rows[k].gain)) g->gain[g->gains++] = rows[k].gain;
        }
        group_json(e, g);
    }
    emit_close(e, ']');
    free(told);
    free(g);
}

static void row_json(struct emit *e, const struct row *x)
{
    emit_open(e, NULL, '{');
    emit_text(e, "action", x->action);
    emit_text(e, "service", x->service);
    emit_text(e, "knob", x->knob);
    emit_text_or_null(e, "class", x->class);
    emit_text_or_null(e, "direction", x->direction);
    emit_text_or_null(e, "cause", x->cause);
    emit_text(e, "from", x->from);
    emit_text(e, "to", x->to);
    emit_text(e, "by", x->by);
    emit_bool(e, "automatic", x->automatic);
    emit_int(e, "incident", (int64_t)x->incident);
    emit_wall(e, "intended", x->intended);
    emit_wall(e, "applied", x->applied);
    emit_text_or_null(e, "verdict", x->verdict);
    emit_text_or_null(e, "outcome", x->outcome);
    emit_text_or_null(e, "last", x->last_kind);
    emit_bool(e, "rolled_back", x->undone);
    emit_text_or_null(e, "model_version", x->model_version);
    emit_text(e, "load", x->load);
    emit_number(e, "gain", x->gain);
    emit_close(e, '}');
}

void v1_get_tuning(void *ctx, struct http_request *r)
{
    struct api *api = ctx;
    const struct v1_port *port = v1_port_of(ctx);
    char service[64] = "", knob[64] = "", cause[100] = "", since[64] = "";
    struct listing l = {.knob = knob, .cause = cause, .since = WALL_NONE};
    struct v1_answer a;
    struct err e;
    uint64_t limit;
    uint16_t index;
    if (http_request_query(r, "service", service, sizeof service) && !v1_service(api, r, service, &index)) return;
    if (!v1_number(r, "limit", 100, V1_LIMIT_MAX, &limit)) return;
    (void)http_request_query(r, "knob", knob, sizeof knob);
    (void)http_request_query(r, "cause", cause, sizeof cause);
    if (http_request_query(r, "since", since, sizeof since) && !wall_parse(since, &l.since)) {
        v1_refuse(r, STATUS_INVALID, "since is a time like 2026-05-12T10:02:30Z or Unix seconds", "");
        return;
    }
    l.limit = limit < ACTIONS_MAX ? (unsigned)limit : ACTIONS_MAX;
    l.rows = calloc(ACTIONS_MAX, sizeof *l.rows);
    CHECK_MEMORY(l.rows);
    enum status s = l.limit == 0 ? STATUS_OK
                                 : port->actions(port->ctx, service[0] ? service : NULL, UINT32_MAX,
                                                 &(struct v1_sink){.arg = &l, .action = add_row}, &e);
    for (unsigned i = 0; i < l.n && s == STATUS_OK; i++) {
        s = port->story(port->ctx, l.rows[i].action, &(struct v1_sink){.arg = &l.rows[i], .record = add_facts}, &e);
        l.rows[i].load = load_of(api, &l.rows[i]);
    }
    if (s != STATUS_OK) {
        v1_refuse(r, s, e.text, "");
    } else {
        v1_begin(&a);
        emit_open(&a.e, "data", '{');
        emit_open(&a.e, "actions", '[');
        for (unsigned i = 0; i < l.n; i++) row_json(&a.e, &l.rows[i]);
        emit_close(&a.e, ']');
        groups_json(&a.e, l.rows, l.n);
        emit_close(&a.e, '}');
        v1_end(&a, r);
    }
    free(l.rows);
}
