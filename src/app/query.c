/* trimtab query EXPR: PromQL over the signals that the daemon kept. Reads metrics.db beside a running daemon or without one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "app/command.h"
#include "base/check.h"
#include "base/text.h"
#include "promql/promql.h"
#include "store/history.h"

#define STEPS_MAX 11000u                 /* as Prometheus */
#define SCRATCH_MAX ((size_t)1 << 30)

struct series { char *service, *signal, *layer; struct pq_label labels[3]; };

struct query {
    struct store_copy *copy;
    struct series *all;
    uint32_t n, cap;
    struct arena kept;                   /* what was handed over: it stays until the evaluation ends */
    struct pq_sample *samples;           /* of the series at hand */
    uint32_t sample_n, sample_cap;
    struct err error;
    bool failed;
};

static bool add_series(void *arg, const char *service, const char *signal, const char *layer)
{
    struct query *q = arg;
    if (q->n == q->cap) {
        q->cap = q->cap ? q->cap * 2 : 64;
        q->all = realloc(q->all, q->cap * sizeof *q->all);
        CHECK_MEMORY(q->all);
    }
    struct series *s = &q->all[q->n++];
    *s = (struct series){.service = strdup(service), .signal = strdup(signal), .layer = strdup(layer)};
    CHECK(s->service && s->signal && s->layer);
    s->labels[0] = (struct pq_label){"__name__", s->signal};
    s->labels[1] = (struct pq_label){"layer", s->layer};
    s->labels[2] = (struct pq_label){"service", s->service};
    return true;
}

static bool add_sample(void *arg, const struct store_step *step)
{
    struct query *q = arg;
    uint64_t stale = PQ_STALE_BITS;
    if (q->sample_n == q->sample_cap) {
        q->sample_cap = q->sample_cap ? q->sample_cap * 2 : 4096;
        q->samples = realloc(q->samples, q->sample_cap * sizeof *q->samples);
        CHECK_MEMORY(q->samples);
    }
    struct pq_sample *s = &q->samples[q->sample_n++];
    s->t_ms = step->at / US_PER_MS;
    if (step->known) s->v = step->last;
    else memcpy(&s->v, &stale, sizeof s->v);     /* unknown: the value before must not be carried on */
    return true;
}

static bool fits(const struct pq_label *labels, uint32_t n, const struct pq_matcher *m)
{
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(labels[i].name, pq_matcher_name(m)) == 0) return pq_matches(m, labels[i].value);
    return pq_matches(m, "");
}

static bool select_kept(void *ctx, const struct pq_matcher *const *matchers, uint32_t n, int64_t from_ms, int64_t to_ms,
                        bool (*sink)(void *sink_ctx, const struct pq_series *series), void *sink_ctx)
{
    struct query *q = ctx;
    for (uint32_t i = 0; i < q->n; i++) {
        const struct series *s = &q->all[i];
        bool wanted = true;
        for (uint32_t k = 0; k < n && wanted; k++) wanted = fits(s->labels, 3, matchers[k]);
        if (!wanted) continue;
        q->sample_n = 0;
        if (store_copy_range(q->copy, s->service, s->signal, from_ms * US_PER_MS, to_ms * US_PER_MS + 1, 0,
                             &(struct store_step_sink){add_sample, q}, &q->error) != STATUS_OK) {
            q->failed = true;
            return false;
        }
        struct pq_sample *samples = ARENA_NEW_N(&q->kept, q->sample_n ? q->sample_n : 1, struct pq_sample);
        if (!samples) {
            q->failed = true;
            (void)err_set(&q->error, STATUS_LIMIT, "the query reads more than a gigabyte of samples; ask for less");
            return false;
        }
        memcpy(samples, q->samples, q->sample_n * sizeof *samples);
        const struct pq_series given = {{s->labels, 3}, samples, q->sample_n};
        if (q->sample_n && !sink(sink_ctx, &given)) return false;
    }
    return true;
}

/* ---- output ---- */

enum form { FORM_TABLE, FORM_CSV, FORM_JSON };

static void put_labels_json(struct buf *b, struct pq_labels l)
{
    buf_putc(b, '{');
    for (uint32_t i = 0; i < l.n; i++) {
        if (i) buf_putc(b, ',');
        buf_json_string(b, l.items[i].name, strlen(l.items[i].name));
        buf_putc(b, ':');
        buf_json_string(b, l.items[i].value, strlen(l.items[i].value));
    }
    buf_putc(b, '}');
}

static void put_labels(struct buf *b, struct pq_labels l)
{
    bool any = false;
    for (uint32_t i = 0; i < l.n; i++)
        if (strcmp(l.items[i].name, "__name__") == 0) buf_puts(b, l.items[i].value);
    for (uint32_t i = 0; i < l.n; i++) {
        if (strcmp(l.items[i].name, "__name__") == 0) continue;
        buf_printf(b, "%s%s=", any ? "," : "{", l.items[i].name);
        buf_json_string(b, l.items[i].value, strlen(l.items[i].value));
        any = true;
    }
    if (any) buf_putc(b, '}');
    else if (b->len == 0 || l.n == 0) buf_puts(b, "{}");
}

static void put_csv_text(struct buf *b, const char *text)
{
    buf_putc(b, '"');
    for (const char *p = text; *p; p++) {
        if (*p == '"') buf_putc(b, '"');
        buf_putc(b, *p);
    }
    buf_putc(b, '"');
}

/* ["seconds", "value"], as Prometheus' API writes it. */
static void put_pair(struct buf *b, int64_t t_ms, double v)
{
    buf_printf(b, "[%lld.%03d,\"", (long long)(t_ms / 1000), (int)(t_ms % 1000));
    buf_double(b, v);
    buf_puts(b, "\"]");
}

static void put_row(struct buf *b, enum form f, struct pq_labels l, int64_t t_ms, double v)
{
    struct buf name = BUF_INIT;
    put_labels(&name, l);
    wall_print(b, (struct wall){t_ms * US_PER_MS});
    if (f == FORM_CSV) {
        buf_putc(b, ',');
        put_csv_text(b, buf_text(&name));
        buf_putc(b, ',');
    } else {
        buf_printf(b, "  %-48s  ", buf_text(&name));
    }
    buf_double(b, v);
    buf_putc(b, '\n');
    buf_free(&name);
}

static void put_vector_json(struct buf *b, const struct pq_result *r, int64_t at_ms)
{
    for (uint32_t i = 0; i < r->n; i++) {
        buf_puts(b, i ? ",{\"metric\":" : "{\"metric\":");
        put_labels_json(b, r->items[i].labels);
        buf_puts(b, ",\"value\":");
        put_pair(b, at_ms, r->items[i].v);
        buf_putc(b, '}');
    }
}

static void put_matrix_json(struct buf *b, const struct pq_result *r)
{
    for (uint32_t i = 0; i < r->series_n; i++) {
        const struct pq_series *s = &r->series[i];
        buf_puts(b, i ? ",{\"metric\":" : "{\"metric\":");
        put_labels_json(b, s->labels);
        buf_puts(b, ",\"values\":[");
        for (uint32_t k = 0; k < s->n; k++) {
            if (k) buf_putc(b, ',');
            put_pair(b, s->samples[k].t_ms, s->samples[k].v);
        }
        buf_puts(b, "]}");
    }
}

/* As Prometheus' API answers. */
static void put_json(struct buf *b, const struct pq_result *r, int64_t at_ms)
{
    static const char *const types[] = {
        [PQ_SCALAR] = "scalar", [PQ_VECTOR] = "vector", [PQ_STRING] = "string", [PQ_MATRIX] = "matrix"};
    buf_printf(b, "{\"status\":\"success\",\"data\":{\"resultType\":\"%s\",\"result\":", types[r->type]);
    if (r->type == PQ_SCALAR) put_pair(b, at_ms, r->scalar);
    if (r->type == PQ_STRING) {
        buf_printf(b, "[%lld.%03d,", (long long)(at_ms / 1000), (int)(at_ms % 1000));
        buf_json_string(b, r->string, strlen(r->string));
        buf_putc(b, ']');
    }
    if (r->type == PQ_VECTOR || r->type == PQ_MATRIX) buf_putc(b, '[');
    if (r->type == PQ_VECTOR) put_vector_json(b, r, at_ms);
    if (r->type == PQ_MATRIX) put_matrix_json(b, r);
    if (r->type == PQ_VECTOR || r->type == PQ_MATRIX) buf_putc(b, ']');
    buf_puts(b, "}}\n");
}

static void print_result(const struct pq_result *r, enum form f, int64_t at_ms)
{
    struct buf b = BUF_INIT;
    if (f == FORM_JSON) {
        put_json(&b, r, at_ms);
    } else {
        if (f == FORM_CSV) buf_puts(&b, "timestamp,series,value\n");
        if (r->type == PQ_SCALAR) put_row(&b, f, (struct pq_labels){NULL, 0}, at_ms, r->scalar);
        if (r->type == PQ_STRING) buf_printf(&b, "%s\n", r->string);
        for (uint32_t i = 0; r->type == PQ_VECTOR && i < r->n; i++) put_row(&b, f, r->items[i].labels, at_ms, r->items[i].v);
        for (uint32_t i = 0; r->type == PQ_MATRIX && i < r->series_n; i++)
            for (uint32_t k = 0; k < r->series[i].n; k++)
                put_row(&b, f, r->series[i].labels, r->series[i].samples[k].t_ms, r->series[i].samples[k].v);
    }
    fwrite(b.data, 1, b.len, stdout);
    buf_free(&b);
}

/* ---- arguments ---- */

struct ask { const char *text; struct wall from, to; struct span step; bool range; enum form form; };

static bool wrong(const char *flag, const char *want)
{
    fprintf(stderr, "trimtab query: --%s: %s\n", flag, want);
    return false;
}

static bool take_span(const char *text, struct span *ret)
{
    unsigned len = (unsigned)strlen(text);
    return len > 0 && span_parse(text, len, ret) == len;
}

/* A time, or a span before `end`. */
static bool take_time(const struct args *a, const char *flag, struct wall end, struct wall *ret)
{
    const char *text = args_text(a, flag);
    struct span back;
    if (!text) return true;
    if (wall_parse(text, ret)) return true;
    if (!take_span(text, &back)) return wrong(flag, "a time, as 2026-05-12T10:00:00Z, or a span, as 2h");
    ret->us = end.us - back.us;
    return true;
}

static bool take_ask(const struct args *a, struct ask *q)
{
    struct timespec now;
    const char *o = args_text(a, "output"), *step = args_text(a, "step");
    (void)clock_gettime(CLOCK_REALTIME, &now);
    q->text = a->words[0];
    q->to.us = (int64_t)now.tv_sec * US_PER_S + now.tv_nsec / 1000;
    q->step = SPAN_S(30);
    if (o && strcmp(o, "csv") == 0) q->form = FORM_CSV;
    else if (o && strcmp(o, "json") == 0) q->form = FORM_JSON;
    else if (o && strcmp(o, "table") != 0) return wrong("output", "table, csv or json");
    if (!take_time(a, "until", q->to, &q->to)) return false;
    q->from.us = q->to.us - US_PER_HOUR;
    q->range = args_has(a, "range") || args_has(a, "since") || step;
    if (!take_time(a, "since", q->to, &q->from)) return false;
    if (step && (!take_span(step, &q->step) || q->step.us < US_PER_MS)) return wrong("step", "a span, as 30s");
    if (q->range && (q->to.us - q->from.us) / q->step.us > (int64_t)STEPS_MAX)
        return wrong("step", "more than 11,000 steps; take a longer one");
    return true;
}

static int evaluate(struct query *q, const struct ask *ask)
{
    struct arena a = ARENA_INIT, scratch = ARENA_INIT;
    struct pq_error error;
    struct pq_result r;
    struct err e = {0};
    scratch.limit = SCRATCH_MAX;
    const struct pq *compiled = pq_compile(&a, ask->text, strlen(ask->text), &error);
    if (!compiled) {
        fprintf(stderr, "%u:%u: %s\n    %s\n    %*s^\n", error.pos.line, error.pos.col, error.text, ask->text, (int)error.offset,
                "");
        if (error.hint[0]) fprintf(stderr, "    = %s\n", error.hint);
        arena_free(&a);
        return EXIT_USAGE;
    }
    struct pq_source source = {q, select_kept};
    int64_t to = ask->to.us / US_PER_MS, from = ask->from.us / US_PER_MS;
    enum status s = ask->range ? pq_eval_range(compiled, &source, from, to, ask->step.us / US_PER_MS, &scratch, &r, &e)
                               : pq_eval(compiled, &source, to, &scratch, &r, &e);
    if (q->failed) fprintf(stderr, "trimtab query: %s\n", q->error.text);
    else if (s != STATUS_OK) fprintf(stderr, "trimtab query: %s\n", e.text);
    else print_result(&r, ask->form, to);
    arena_free(&scratch);
    arena_free(&a);
    return s == STATUS_OK && !q->failed ? EXIT_GOOD : EXIT_FAIL;
}

int command_query(const struct args *a)
{
    struct query q = {.kept = {.limit = SCRATCH_MAX}};
    struct ask ask = {0};
    struct err e;
    char path[1200];
    const char *data = args_text(a, "data");
    if (!args_want(a, 1, 1) || !take_ask(a, &ask)) return EXIT_USAGE;
    if (!data) data = getenv("TRIMTAB_DATA");
    snprintf(path, sizeof path, "%s/metrics.db", data ? data : "./trimtab-data");
    int code = EXIT_FAIL;
    if (store_copy_open(&q.copy, path, &e) != STATUS_OK ||
        store_copy_series(q.copy, &(struct store_series_sink){add_series, &q}, &e) != STATUS_OK)
        fprintf(stderr, "trimtab query: %s\n", e.text);
    else code = evaluate(&q, &ask);
    for (uint32_t i = 0; i < q.n; i++) {
        free(q.all[i].service);
        free(q.all[i].signal);
        free(q.all[i].layer);
    }
    free(q.all);
    arena_free(&q.kept);
    free(q.samples);
    store_copy_close(q.copy);
    return code;
}
