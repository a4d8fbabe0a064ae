#include "adapt/prometheus_ask.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "base/text.h"

#define MARK "trimtab"                 /* the label by which parts of a union are told apart */

/* ---- asking ---- */

static void put_form(struct buf *out, const char *text)
{
    static const char hex[] = "0123456789ABCDEF";
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        bool plain = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') || strchr("-_.~", *p);
        if (plain) {
            buf_putc(out, (char)*p);
        } else {
            buf_putc(out, '%');
            buf_putc(out, hex[*p >> 4]);
            buf_putc(out, hex[*p & 15]);
        }
    }
}

/* kind: v the value, t the time of its newest sample, n the requests behind it. */
static void put_part(struct buf *query, char kind, uint32_t place, const char *text)
{
    if (!text) return;
    if (query->len) buf_puts(query, " or ");
    buf_printf(query, "label_replace((%s), \"" MARK "\", \"%c%u\", \"\", \"\")", text, kind, place);
}

static void put_seconds(struct buf *out, const char *name, int64_t us)
{
    buf_printf(out, "&%s=%lld.%03d", name, (long long)(us / US_PER_S), (int)(us / US_PER_MS % 1000));
}

static void put_span(struct buf *out, const struct prometheus_span *range)
{
    put_seconds(out, "start", range->from.us);
    put_seconds(out, "end", range->to.us);
    put_seconds(out, "step", range->step.us);
}

void prometheus_ask_one(struct buf *out, const char *query, const struct prometheus_span *range)
{
    buf_puts(out, "query=");
    put_form(out, query);
    put_span(out, range);
}

void prometheus_ask(struct buf *out, const struct signal_def *signals, const uint16_t *batch, uint32_t n, struct span timeout,
                    const struct prometheus_span *range)
{
    struct buf query = BUF_INIT;
    for (uint32_t i = 0; i < n; i++) {
        const struct signal_def *s = &signals[batch[i]];
        put_part(&query, 'v', i, s->ask_text);
        if (range) continue;
        put_part(&query, 't', i, s->newest_text);
        put_part(&query, 'n', i, s->requests_text);
    }
    buf_puts(out, "query=");
    put_form(out, buf_text(&query));
    buf_free(&query);
    put_seconds(out, "timeout", timeout.us);
    if (range) put_span(out, range);
}

/* ---- reading ---- */

/* NULL: said in `ret`. */
static json_t *open_answer(const char *body, size_t len, long http, struct prometheus_answer *ret)
{
    json_error_t e;
    json_t *root = json_loadb(body, len, JSON_REJECT_DUPLICATES, &e);
    const char *status = json_string_value(json_object_get(root, "status"));
    *ret = (struct prometheus_answer){.ok = http == 200 && status && text_eq(status, "success")};
    if (ret->ok) return root;
    const char *type = json_string_value(json_object_get(root, "errorType"));
    const char *text = json_string_value(json_object_get(root, "error"));
    ret->refused = http == 400 || http == 422 || (type && (text_eq(type, "bad_data") || text_eq(type, "execution")));
    if (text) snprintf(ret->error, sizeof ret->error, "HTTP %ld: %.200s", http, text);
    else if (http == 200) snprintf(ret->error, sizeof ret->error, "the answer is not that of a Prometheus-compatible server");
    else snprintf(ret->error, sizeof ret->error, "HTTP %ld", http);
    json_decref(root);
    return NULL;
}

/* Kind and place of a series by our mark; false: not one of ours. */
static bool mark_of(const json_t *series, uint32_t n, char *kind, uint32_t *place)
{
    const char *mark = json_string_value(json_object_get(json_object_get(series, "metric"), MARK));
    uint64_t v;
    if (!mark || !mark[0] || !strchr("vtn", mark[0]) || !num_parse_u64(mark + 1, strlen(mark + 1), &v) || v >= n) return false;
    *kind = mark[0];
    *place = (uint32_t)v;
    return true;
}

/* [time, "value"] */
static bool pair_of(const json_t *pair, double *seconds, double *value)
{
    const json_t *t = json_array_get(pair, 0);
    const char *text = json_string_value(json_array_get(pair, 1));
    if (!json_is_number(t) || !text) return false;
    *seconds = json_number_value(t);
    return num_parse_all(text, strlen(text), value) && *seconds > 0 && *seconds < 1e11;
}

struct part { uint32_t values; double value, at, newest, requests; };

static bool take_series(const json_t *series, uint32_t n, struct part *parts)
{
    char kind;
    uint32_t place;
    double at, value;
    if (!mark_of(series, n, &kind, &place) || !pair_of(json_object_get(series, "value"), &at, &value)) return false;
    struct part *p = &parts[place];
    if (kind == 't') p->newest = value;
    else if (kind == 'n') p->requests = value;
    else {
        p->values++;
        p->value = value;
        p->at = at;
    }
    return true;
}

static struct point unknown(struct instant at, enum unknown_why why) { return (struct point){.at = at, .value = NAN, .why = why}; }

/* The age of a value is a difference of two times of the server's own, so that our clocks need not agree. */
static struct point judge(const struct part *p, const struct signal_def *s, struct instant began)
{
    if (p->values == 0) return unknown(began, WHY_MISSING);
    if (p->values > 1) return unknown(began, WHY_AMBIGUOUS);
    struct instant at = began;
    double age = p->newest > 0 ? p->at - p->newest : 0;
    if (age > 0) at = instant_add(began, (struct span){-(int64_t)((age < 86400 ? age : 86400) * 1e6)});
    if (isnan(p->value) && s->is_quantile) return unknown(at, WHY_LOW_TRAFFIC);
    if (isnan(p->value) || isinf(p->value)) return unknown(at, WHY_NAN);
    struct point x = {.at = at, .value = p->value, .why = WHY_KNOWN};
    if (p->requests > 0) x.n = p->requests < 4e9 ? (uint32_t)(p->requests + 0.5) : UINT32_MAX;
    return x;
}

void prometheus_read_now(const char *body, size_t len, long http, const struct signal_def *signals, const uint16_t *batch,
                         uint32_t n, struct instant began, struct point *out, struct prometheus_answer *ret)
{
    struct part parts[PROMETHEUS_BATCH] = {0};
    enum unknown_why all = WHY_KNOWN;
    json_t *root = open_answer(body, len, http, ret);
    const json_t *series, *list = json_object_get(json_object_get(root, "data"), "result");
    size_t i;
    if (root && !json_is_array(list)) {
        ret->ok = false;
        snprintf(ret->error, sizeof ret->error, "the answer holds no vector");
    }
    json_array_foreach(list, i, series) {
        if (ret->ok && !take_series(series, n, parts)) {
            ret->ok = false;
            snprintf(ret->error, sizeof ret->error, "the answer holds something that was not asked");
        }
    }
    const json_t *warnings = json_object_get(root, "warnings");
    if (json_array_size(warnings) > 0) {
        const char *first = json_string_value(json_array_get(warnings, 0));
        all = WHY_PARTIAL;
        snprintf(ret->error, sizeof ret->error, "warning: %.200s", first ? first : "without words");
    }
    if (!ret->ok) all = WHY_SERVER;
    for (uint32_t k = 0; k < n; k++) out[k] = all == WHY_KNOWN ? judge(&parts[k], &signals[batch[k]], began) : unknown(began, all);
    json_decref(root);
}

/* false: not all of it were values in ascending time; those are left out. */
static bool give_rows(const json_t *series, uint32_t place, void (*row)(void *, uint32_t, struct wall, double), void *ctx)
{
    size_t i;
    const json_t *pair;
    double at, value, last = 0;
    bool good = json_is_array(json_object_get(series, "values"));
    json_array_foreach(json_object_get(series, "values"), i, pair) {
        bool taken = pair_of(pair, &at, &value) && at > last;
        good = good && taken;
        if (!taken) continue;
        last = at;
        row(ctx, place, (struct wall){(int64_t)(at * 1e6 + 0.5)}, value);
    }
    return good;
}

void prometheus_read_each(const char *body, size_t len, long http,
                          void (*row)(void *ctx, uint32_t place, struct wall at, double value), void *ctx,
                          struct prometheus_answer *ret)
{
    size_t i;
    json_t *root = open_answer(body, len, http, ret);
    const json_t *series, *list = json_object_get(json_object_get(root, "data"), "result");
    bool good = json_is_array(list);
    json_array_foreach(list, i, series) {
        good = give_rows(series, (uint32_t)i, row, ctx) && good;
    }
    if (ret->ok && !good) {
        ret->ok = false;
        snprintf(ret->error, sizeof ret->error, "the answer holds something that is no value");
    }
    json_decref(root);
}

void prometheus_read_range(const char *body, size_t len, long http, uint32_t n,
                           void (*row)(void *ctx, uint32_t place, struct wall at, double value), void *ctx,
                           struct prometheus_answer *ret)
{
    uint32_t seen[PROMETHEUS_BATCH] = {0}, place;
    char kind;
    size_t i;
    json_t *root = open_answer(body, len, http, ret);
    const json_t *series, *list = json_object_get(json_object_get(root, "data"), "result");
    json_array_foreach(list, i, series) {
        if (mark_of(series, n, &kind, &place)) seen[place]++;
    }
    json_array_foreach(list, i, series) {
        if (mark_of(series, n, &kind, &place) && seen[place] == 1) (void)give_rows(series, place, row, ctx);
    }
    json_decref(root);
}
