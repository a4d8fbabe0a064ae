/* Signals over time: columns for charts with the band of what was believed normal, marks, and two windows compared. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/v1_chart.h"
#include "base/check.h"
#include "base/text.h"

#define POINTS_WANTED 400
#define POINTS_MAX 2000              /* of one signal */
#define CELLS_MAX 60000              /* of one answer: points times signals */
#define BAND_SCALES 3                /* loop.md: a shift or spike begins at three */
#define MARKS_MAX 400
#define WINDOWS_LOOKED 2000          /* records back for windows over all services */
#define RANGE_MAX_US (INT64_C(31) * 24 * US_PER_HOUR)

/* ---- one signal into columns ---- */

static bool add_step(void *arg, const struct v1_step *s)
{
    struct v1_column *c = arg;
    int64_t i = c->step_us ? (s->at.us - c->from.us) / c->step_us : 0;
    if (i < 0 || i >= c->n) return true;
    c->mean[i] = s->mean;
    if (c->min) c->min[i] = s->min;
    if (c->max) c->max[i] = s->max;
    return true;
}

static bool column_new(struct v1_column *c, struct wall from, int64_t step_us, int64_t n, bool bounds)
{
    *c = (struct v1_column){.from = from, .step_us = step_us, .n = n};
    double *all = calloc((size_t)n * (bounds ? 3 : 1), sizeof *all);
    if (!all) return false;
    for (int64_t i = 0; i < n * (bounds ? 3 : 1); i++) all[i] = NAN;
    c->mean = all;
    c->min = bounds ? all + n : NULL;
    c->max = bounds ? all + 2 * n : NULL;
    return true;
}

enum status v1_column_read(const struct v1_port *port, const char *service, const char *signal, struct wall from, int64_t step_us,
                           int64_t n, bool bounds, struct v1_column *ret, struct err *e)
{
    if (!column_new(ret, from, step_us, n, bounds)) return err_set(e, STATUS_MEMORY, "out of memory for a chart");
    const struct v1_sink sink = {.arg = ret, .step = add_step};
    enum status s = port->range(port->ctx, service, signal, from, (struct wall){from.us + step_us * n}, step_us, &sink, e);
    if (s != STATUS_OK) v1_column_free(ret);
    return s;
}

void v1_column_free(struct v1_column *c)
{
    free(c->mean);
    *c = (struct v1_column){0};
}

/* What was believed is kept once a minute; it holds until the next. */
static void hold(struct v1_column *c, int64_t most_us)
{
    int64_t age = INT64_MAX;
    double last = NAN;
    for (int64_t i = 0; i < c->n; i++) {
        if (!isnan(c->mean[i])) last = c->mean[i], age = 0;
        else if (age < most_us) age += c->step_us, c->mean[i] = last;
    }
}

void v1_numbers(struct emit *e, const char *key, const double *x, int64_t n)
{
    emit_open(e, key, '[');
    for (int64_t i = 0; i < n; i++) emit_number(e, NULL, x[i]);
    emit_close(e, ']');
}

static void times(struct emit *e, const struct v1_column *c)
{
    emit_open(e, "t", '[');
    for (int64_t i = 0; i < c->n; i++) emit_number(e, NULL, (double)((c->from.us + i * c->step_us) / 1000) / 1000);
    emit_close(e, ']');
}

static void band(struct emit *e, const struct v1_column *base, const struct v1_column *scale)
{
    v1_numbers(e, "baseline", base->mean, base->n);
    for (int side = -1; side <= 1; side += 2) {
        emit_open(e, side < 0 ? "low" : "high", '[');
        for (int64_t i = 0; i < base->n; i++) emit_number(e, NULL, base->mean[i] + side * BAND_SCALES * scale->mean[i]);
        emit_close(e, ']');
    }
}

static enum status signal_json(const struct v1_port *port, struct emit *e, const struct service_def *s, uint16_t i,
                               const struct v1_range *r, struct err *err)
{
    const struct signal_def *d = &s->signals[i];
    struct v1_column value = {0}, base = {0}, scale = {0};
    char name[2][POLICY_NAME_MAX + 16];
    snprintf(name[0], sizeof name[0], "%s" V1_BASELINE, d->name);
    snprintf(name[1], sizeof name[1], "%s" V1_SCALE, d->name);
    enum status st = v1_column_read(port, s->name, d->name, r->from, r->step_us, r->n, true, &value, err);
    if (st == STATUS_OK) st = v1_column_read(port, s->name, name[0], r->from, r->step_us, r->n, false, &base, err);
    if (st == STATUS_OK) st = v1_column_read(port, s->name, name[1], r->from, r->step_us, r->n, false, &scale, err);
    if (st == STATUS_OK) {
        hold(&base, 180 * US_PER_S);
        hold(&scale, 180 * US_PER_S);
        emit_open(e, NULL, '{');
        emit_text(e, "name", d->name);
        emit_text(e, "layer", layer_name(d->layer));
        emit_text(e, "unit", unit_name(d->unit));
        emit_text(e, "bad", bad_name(d->bad));
        emit_number(e, "objective", i == s->judge.latency && s->judge.objective > 0 ? s->judge.objective : NAN);
        times(e, &value);
        v1_numbers(e, "mean", value.mean, value.n);
        v1_numbers(e, "min", value.min, value.n);
        v1_numbers(e, "max", value.max, value.n);
        band(e, &base, &scale);
        emit_close(e, '}');
    }
    v1_column_free(&value);
    v1_column_free(&base);
    v1_column_free(&scale);
    return st;
}

/* ---- marks ---- */

static const char *mark_of(enum record_kind k)
{
    switch (k) {
    case RECORD_RELEASE: return "release";
    case RECORD_APPLIED: return "action";
    case RECORD_VERDICT: return "verdict";
    case RECORD_UNDONE: return "rollback";
    case RECORD_INCIDENT: return "incident";
    case RECORD_CLOSED: return "closed";
    case RECORD_EXTERNAL: return "external";
    case RECORD_HALT: return "halt";
    case RECORD_RESUME: return "resume";
    case RECORD_FREEZE:
    case RECORD_MAINTENANCE:
    case RECORD_WINDOW_END:
    case RECORD_YIELDED:
    case RECORD_HELD: return "freeze";
    default: return NULL;
    }
}

struct marks { struct emit *e; struct wall from, to; unsigned n, looked; };

static void mark_text(struct buf *b, const struct record *r)
{
    if (record_has(r, RF_KNOB)) buf_puts(b, record_get_text(r, RF_KNOB));
    if (record_has(r, RF_FROM) && record_has(r, RF_TO)) {
        bool back = r->kind == RECORD_UNDONE;
        buf_printf(b, " %s -> %s", record_get_text(r, back ? RF_TO : RF_FROM), record_get_text(r, back ? RF_FROM : RF_TO));
    }
    if (b->len) buf_puts(b, ": ");
    buf_puts(b, record_has(r, RF_VERDICT) ? record_get_text(r, RF_VERDICT) : record_kind_meaning(r->kind));
}

static bool add_mark(void *arg, uint64_t seq, const struct record *r, const char *bytes, size_t len)
{
    struct marks *m = arg;
    const char *kind = mark_of(r->kind);
    struct wall at = {record_get_i64(r, RF_AT, INT64_MIN)};
    struct buf b = BUF_INIT;
    (void)bytes, (void)len;
    if (at.us < m->from.us) return false;
    if (!kind || at.us >= m->to.us) return true;
    mark_text(&b, r);
    emit_open(m->e, NULL, '{');
    emit_wall(m->e, "at", at);
    emit_number(m->e, "t", (double)(at.us / 1000) / 1000);
    emit_text(m->e, "kind", kind);
    emit_text(m->e, "record", record_kind_name(r->kind));
    emit_int(m->e, "seq", (int64_t)seq);
    emit_text_or_null(m->e, "action", record_get_text(r, RF_ACTION));
    if (record_has(r, RF_INCIDENT)) emit_int(m->e, "incident", (int64_t)record_get_u64(r, RF_INCIDENT, 0));
    else emit_null(m->e, "incident");
    emit_text(m->e, "text", buf_text(&b));
    emit_close(m->e, '}');
    buf_free(&b);
    return ++m->n < MARKS_MAX;
}

/* Windows over all services stand in the log without a service. */
static bool add_mark_of_all(void *arg, uint64_t seq, const struct record *r, const char *bytes, size_t len)
{
    struct marks *m = arg;
    bool window = r->kind == RECORD_FREEZE || r->kind == RECORD_MAINTENANCE || r->kind == RECORD_WINDOW_END;
    if (record_get_i64(r, RF_AT, INT64_MIN) < m->from.us) return false;
    if (window && !record_has(r, RF_SERVICE)) return add_mark(arg, seq, r, bytes, len);
    return ++m->looked < WINDOWS_LOOKED;
}

static enum status marks_json(const struct v1_port *port, const char *service, struct marks *m, struct err *e)
{
    enum status s = port->records_back(port->ctx, service, UINT64_MAX, &(struct v1_sink){.arg = m, .record = add_mark}, e);
    if (s != STATUS_OK || m->n >= MARKS_MAX) return s;
    return port->records_back(port->ctx, NULL, UINT64_MAX, &(struct v1_sink){.arg = m, .record = add_mark_of_all}, e);
}

/* ---- the answer ---- */

static bool time_query(struct http_request *r, const char *name, struct wall absent, struct wall *ret)
{
    char text[64];
    *ret = absent;
    if (!http_request_query(r, name, text, sizeof text)) return true;
    if (wall_parse(text, ret) && ret->us >= 0 && ret->us < INT64_C(253402300800) * US_PER_S) return true;
    snprintf(text, sizeof text, "%s is a time like 2026-05-12T10:02:30Z or Unix seconds", name);
    v1_refuse(r, STATUS_INVALID, text, "");
    return false;
}

/* About as many points as a chart is wide, in a step that people would choose. */
static int64_t even_step(int64_t length_s)
{
    static const int64_t steps[] = {10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200};
    for (unsigned i = 0; i < ARRAY_LEN(steps); i++) {
        if (length_s / steps[i] <= POINTS_WANTED) return steps[i];
    }
    return 14400;
}

static bool range_of(struct http_request *r, struct wall now, struct v1_range *ret)
{
    struct wall from, to;
    uint64_t step;
    if (!time_query(r, "to", now, &to) || !time_query(r, "from", (struct wall){to.us - US_PER_HOUR}, &from)) return false;
    if (!v1_number(r, "step", 0, 604800, &step)) return false;
    int64_t length = to.us - from.us;
    if (length <= 0 || length > RANGE_MAX_US) {
        v1_refuse(r, STATUS_INVALID, "from lies before to, and at most 31 days", "");
        return false;
    }
    ret->step_us = (step ? (int64_t)step : even_step(length / US_PER_S)) * US_PER_S;
    ret->from = (struct wall){from.us - from.us % ret->step_us};
    ret->n = (to.us - ret->from.us + ret->step_us - 1) / ret->step_us;
    if (ret->n <= POINTS_MAX) return true;
    v1_refuse(r, STATUS_INVALID, "more than 2000 points a signal: make step longer or the range shorter", "");
    return false;
}

/* Is the signal asked for? `list` "": all are. */
static bool wanted(const char *list, const char *name)
{
    size_t n = strlen(name);
    if (!list[0]) return true;
    for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',') {
        if (strcspn(at, ",") == n && strncmp(at, name, n) == 0) return true;
    }
    return false;
}

static struct wall wall_now(struct api *api, uint16_t service)
{
    struct arena arena = ARENA_INIT;
    struct service_view v;
    api->control.view(api->control.ctx, service, &arena, &v);
    arena_free(&arena);
    return v.wall;
}

void v1_get_series(void *ctx, struct http_request *r)
{
    struct api *api = ctx;
    const struct v1_port *port = v1_port_of(ctx);
    char list[1000] = "";
    struct v1_range range;
    struct v1_answer a;
    struct err e;
    uint16_t index;
    enum status s = STATUS_OK;
    if (!v1_service(api, r, http_request_param(r, "service"), &index)) return;
    const struct service_def *def = &api->control.policy(api->control.ctx)->services[index];
    (void)http_request_query(r, "signals", list, sizeof list);
    if (!range_of(r, wall_now(api, index), &range)) return;
    unsigned asked = 0;
    for (uint16_t i = 0; i < def->signal_count; i++) asked += wanted(list, def->signals[i].name);
    if (asked * range.n > CELLS_MAX) {
        v1_refuse(r, STATUS_INVALID, "too much for one answer: ask for fewer signals or a longer step", "");
        return;
    }
    v1_begin(&a);
    emit_open(&a.e, "data", '{');
    emit_text(&a.e, "service", def->name);
    emit_wall(&a.e, "from", range.from);
    emit_wall(&a.e, "to", (struct wall){range.from.us + range.n * range.step_us});
    emit_number(&a.e, "step_seconds", (double)(range.step_us / 1000) / 1000);
    emit_open(&a.e, "signals", '[');
    for (uint16_t i = 0; i < def->signal_count && s == STATUS_OK; i++) {
        if (wanted(list, def->signals[i].name)) s = signal_json(port, &a.e, def, i, &range, &e);
    }
    emit_close(&a.e, ']');
    struct marks m = {.e = &a.e, .from = range.from, .to = {range.from.us + range.n * range.step_us}};
    emit_open(&a.e, "marks", '[');
    if (s == STATUS_OK) s = marks_json(port, def->name, &m, &e);
    emit_close(&a.e, ']');
    emit_close(&a.e, '}');
    if (s == STATUS_OK) {
        v1_end(&a, r);
        return;
    }
    v1_drop(&a);
    v1_refuse(r, s, e.text, "");
}
