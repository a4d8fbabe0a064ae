/* Before and after an action as two distributions; two actions side by side. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/v1_chart.h"
#include "base/check.h"
#include "base/num.h"
#include "base/text.h"

#define BINS 20
#define STEP_US (30 * US_PER_S)      /* of a side by side picture */
#define POINT_US (10 * US_PER_S)     /* of a distribution */
#define SIDE_MAX 400

/* ---- the windows of an action, from its records ---- */

static bool take(void *arg, uint64_t seq, const struct record *r, const char *bytes, size_t len)
{
    struct v1_window *w = arg;
    struct wall at = {record_get_i64(r, RF_AT, INT64_MIN)};
    (void)seq, (void)bytes, (void)len;
    if (r->kind == RECORD_INTENT) {
        w->intent = at;
        w->settle.us = record_get_i64(r, RF_SETTLE, 0);
        w->window.us = record_get_i64(r, RF_WINDOW, 0);
        (void)text_copy(w->knob, sizeof w->knob, record_get_text(r, RF_KNOB));
        (void)text_copy(w->from, sizeof w->from, record_get_text(r, RF_FROM));
        (void)text_copy(w->to, sizeof w->to, record_get_text(r, RF_TO));
    }
    if (r->kind == RECORD_APPLIED && w->applied.us == WALL_NONE.us) w->applied = at;
    if (w->end.us == WALL_NONE.us && (r->kind == RECORD_VERDICT || r->kind == RECORD_UNDO ||
                                      r->kind == RECORD_YIELDED)) w->end = at;
    return true;
}

bool v1_window_of(struct api *api, struct http_request *r, const char *action, struct v1_window *ret)
{
    const struct v1_port *port = api->v1;
    const char *slash = strrchr(action, '/');
    struct err e;
    *ret = (struct v1_window){.intent = WALL_NONE, .applied = WALL_NONE, .end = WALL_NONE};
    (void)text_copy(ret->action, sizeof ret->action, action);
    snprintf(ret->service, sizeof ret->service, "%.*s", slash ? (int)(slash - action) : 0, action);
    enum status s = port->story(port->ctx, action, &(struct v1_sink){.arg = ret, .record = take}, &e);
    if (s == STATUS_OK && ret->intent.us == WALL_NONE.us) s = err_set(&e, STATUS_NOT_FOUND, "no such action in the audit log");
    if (s == STATUS_OK && policy_service(api->control.policy(api->control.ctx), ret->service) == NO_INDEX)
        s = err_set(&e, STATUS_NOT_FOUND, "its service is no longer in the configuration");
    if (s != STATUS_OK) v1_refuse(r, s, e.text, "");
    return s == STATUS_OK;
}

/* ---- distributions ---- */

struct side { double x[SIDE_MAX]; uint32_t n; };

static bool add_value(void *arg, const struct v1_step *s)
{
    struct side *d = arg;
    if (isfinite(s->mean) && d->n < SIDE_MAX) d->x[d->n++] = s->mean;
    return true;
}

static int rising(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(const struct side *d, double q)
{
    if (d->n == 0) return NAN;
    double at = q * (d->n - 1);
    uint32_t i = (uint32_t)at;
    double rest = at - i;
    return i + 1 < d->n ? d->x[i] + rest * (d->x[i + 1] - d->x[i]) : d->x[i];
}

static double mean_of(const struct side *d)
{
    double sum = 0;
    for (uint32_t i = 0; i < d->n; i++) sum += d->x[i];
    return d->n ? sum / d->n : NAN;
}

static void side_json(struct emit *e, const char *key, const struct side *d, double low, double width)
{
    static const struct { const char *name; double q; } quantiles[] = {{"min", 0}, {"p10", .1}, {"p25", .25}, {"p50", .5},
                                                                      {"p75", .75}, {"p90", .9}, {"max", 1}};
    int64_t bins[BINS] = {0};
    for (uint32_t i = 0; i < d->n; i++) {
        int b = width > 0 ? (int)((d->x[i] - low) / width) : 0;
        bins[b < 0 ? 0 : b >= BINS ? BINS - 1 : b]++;
    }
    emit_open(e, key, '{');
    emit_int(e, "n", d->n);
    for (unsigned i = 0; i < ARRAY_LEN(quantiles); i++) emit_number(e, quantiles[i].name, quantile(d, quantiles[i].q));
    emit_number(e, "mean", mean_of(d));
    emit_open(e, "bins", '[');
    for (int i = 0; i < BINS; i++) emit_int(e, NULL, bins[i]);
    emit_close(e, ']');
    emit_close(e, '}');
}

static void compared(const struct v1_port *port, struct emit *e, const struct signal_def *d, struct side *before,
                     struct side *after)
{
    double shift[3] = {NAN, NAN, NAN};
    (void)port->shift(before->x, before->n, after->x, after->n, shift);     /* points in time order come first */
    qsort(before->x, before->n, sizeof *before->x, rising);
    qsort(after->x, after->n, sizeof *after->x, rising);
    double low = fmin(quantile(before, 0), quantile(after, 0)), high = fmax(quantile(before, 1), quantile(after, 1));
    double width = isfinite(high - low) && high > low ? (high - low) / BINS : 0;
    emit_open(e, NULL, '{');
    emit_text(e, "name", d->name);
    emit_text(e, "unit", unit_name(d->unit));
    emit_text(e, "layer", layer_name(d->layer));
    emit_text(e, "bad", bad_name(d->bad));
    side_json(e, "before", before, low, width);
    side_json(e, "after", after, low, width);
    emit_open(e, "edges", '[');
    for (int i = 0; i <= BINS && isfinite(low); i++) emit_number(e, NULL, low + i * width);
    emit_close(e, ']');
    emit_number(e, "shift", shift[0]);
    emit_number(e, "low", shift[1]);
    emit_number(e, "high", shift[2]);
    emit_close(e, '}');
}

static void span_json(struct emit *e, const char *key, struct wall from, struct wall to)
{
    emit_open(e, key, '{');
    emit_wall(e, "from", from);
    emit_wall(e, "to", to);
    emit_close(e, '}');
}

static bool action_in_path(struct http_request *r, char out[120])
{
    uint64_t n;
    const char *text = http_request_param(r, "action");
    if (!text || !num_parse_u64(text, strlen(text), &n)) {
        v1_refuse(r, STATUS_INVALID, "the action in the address is a whole number", "");
        return false;
    }
    snprintf(out, 120, "%.63s/%llu", http_request_param(r, "service"), (unsigned long long)n);
    return true;
}

/* Before: as long as the window, up to the intent. After: from settled on, as far as it got. */
void v1_get_compare(void *ctx, struct http_request *r)
{
    struct api *api = ctx;
    const struct v1_port *port = v1_port_of(ctx);
    char action[120];
    struct v1_window w;
    struct v1_answer a;
    struct err e;
    enum status s = STATUS_OK;
    struct side *two = calloc(2, sizeof *two);
    CHECK_MEMORY(two);
    if (!action_in_path(r, action) || !v1_window_of(api, r, action, &w)) {
        free(two);
        return;
    }
    const struct policy *p = api->control.policy(api->control.ctx);
    const struct service_def *def = &p->services[policy_service(p, w.service)];
    struct wall before = {w.intent.us - w.window.us},
        begin = {(w.applied.us == WALL_NONE.us ? w.intent : w.applied).us + w.settle.us};
    struct wall end = {w.end.us == WALL_NONE.us || w.end.us > begin.us + 3 * w.window.us ? begin.us + w.window.us : w.end.us};
    v1_begin(&a);
    emit_open(&a.e, "data", '{');
    emit_text(&a.e, "action", action);
    emit_text(&a.e, "knob", w.knob);
    emit_text(&a.e, "from", w.from);
    emit_text(&a.e, "to", w.to);
    span_json(&a.e, "before", before, w.intent);
    span_json(&a.e, "after", begin, end);
    emit_open(&a.e, "signals", '[');
    for (uint16_t i = 0; i < def->signal_count && s == STATUS_OK; i++) {
        const char *name = def->signals[i].name;
        two[0].n = two[1].n = 0;
        s = port->range(port->ctx, w.service, name, before, w.intent, POINT_US, &(struct v1_sink){.arg = &two[0],
                .step = add_value}, &e);
        if (s == STATUS_OK && end.us > begin.us)
            s = port->range(port->ctx, w.service, name, begin, end, POINT_US, &(struct v1_sink){.arg = &two[1],
                    .step = add_value}, &e);
        if (s == STATUS_OK) compared(port, &a.e, &def->signals[i], &two[0], &two[1]);
    }
    free(two);
    emit_close(&a.e, ']');
    emit_close(&a.e, '}');
    if (s == STATUS_OK) {
        v1_end(&a, r);
        return;
    }
    v1_drop(&a);
    v1_refuse(r, s, e.text, "");
}

/* ---- side by side ---- */

static enum status one_side(struct api *api, struct emit *e, const char *key, const struct v1_window *w, struct span half,
                            struct err *err)
{
    const struct policy *p = api->control.policy(api->control.ctx);
    const struct service_def *def = &p->services[policy_service(p, w->service)];
    struct wall at = w->applied.us == WALL_NONE.us ? w->intent : w->applied, from = {at.us - half.us};
    int64_t n = 2 * half.us / STEP_US;
    enum status s = STATUS_OK;
    emit_open(e, key, '{');
    emit_text(e, "action", w->action);
    emit_text(e, "service", w->service);
    emit_text(e, "knob", w->knob);
    emit_text(e, "from_value", w->from);
    emit_text(e, "to_value", w->to);
    emit_wall(e, "at", at);
    emit_wall(e, "from", from);
    emit_wall(e, "to", (struct wall){from.us + n * STEP_US});
    emit_open(e, "signals", '[');
    for (uint16_t i = 0; i < def->signal_count && s == STATUS_OK; i++) {
        struct v1_column c;
        s = v1_column_read(api->v1, w->service, def->signals[i].name, from, STEP_US, n, false, &c, err);
        if (s != STATUS_OK) break;
        emit_open(e, NULL, '{');
        emit_text(e, "name", def->signals[i].name);
        emit_text(e, "unit", unit_name(def->signals[i].unit));
        emit_open(e, "offset", '[');
        for (int64_t k = 0; k < n; k++) emit_int(e, NULL, (k * STEP_US - half.us) / US_PER_S);
        emit_close(e, ']');
        v1_numbers(e, "mean", c.mean, n);
        emit_close(e, '}');
        v1_column_free(&c);
    }
    emit_close(e, ']');
    emit_close(e, '}');
    return s;
}

void v1_get_side(void *ctx, struct http_request *r)
{
    struct api *api = ctx;
    char name[2][100] = {"", ""};
    struct v1_window w[2];
    struct v1_answer a;
    struct err e;
    if (!http_request_query(r, "a", name[0], sizeof name[0]) || !http_request_query(r, "b", name[1], sizeof name[1])) {
        v1_refuse(r, STATUS_INVALID, "say two actions: ?a=NAME/N&b=NAME/N", "");
        return;
    }
    if (!v1_window_of(api, r, name[0], &w[0]) || !v1_window_of(api, r, name[1], &w[1])) return;
    struct span half = span_max(span_max(w[0].window, w[1].window), SPAN_MIN(10));
    half = span_min((struct span){half.us * 2}, SPAN_HOUR(6));
    v1_begin(&a);
    emit_open(&a.e, "data", '{');
    enum status s = one_side(api, &a.e, "a", &w[0], half, &e);
    if (s == STATUS_OK) s = one_side(api, &a.e, "b", &w[1], half, &e);
    emit_close(&a.e, '}');
    if (s == STATUS_OK) {
        v1_end(&a, r);
        return;
    }
    v1_drop(&a);
    v1_refuse(r, s, e.text, "");
}
