/* How many instant queries one core answers in a second, the text compiled each time: promql_bench SERIES QUERIES.
 * SERIES has lines of `name{label="value",...} STEP_MS VALUE VALUE ...`, the first value at time 0; QUERIES one query a
 * line. scripts/bench-peers writes both and asks another engine the same, so each answer's size and sum are printed too.
 * Without arguments nothing is measured. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/num.h"
#include "promql/promql.h"

#define SECONDS 0.3
#define MAX_SERIES 20000
#define ASKED_AT_MS 3000000

static struct pq_series series[MAX_SERIES];
static uint32_t series_count;

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- data ---- */

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct pq_label *)a)->name, ((const struct pq_label *)b)->name);
}

/* A series is written like a selector: the compiler reads it. */
static bool read_labels(struct arena *a, const char *text, size_t len, struct pq_labels *ret)
{
    struct pq_selector sel;
    const struct pq *q = pq_compile(a, text, len, NULL);
    if (!q || pq_selector_count(q) != 1) return false;
    pq_selector(q, 0, &sel);
    struct pq_label *items = ARENA_NEW_N(a, sel.n, struct pq_label);
    if (!items) return false;
    for (uint32_t i = 0; i < sel.n; i++)
        items[i] = (struct pq_label){pq_matcher_name(sel.matchers[i]), pq_matcher_value(sel.matchers[i])};
    qsort(items, sel.n, sizeof *items, by_name);
    *ret = (struct pq_labels){items, sel.n};
    return true;
}

static bool read_series(struct arena *a, char *line)
{
    char *rest = NULL, *name = strtok_r(line, " ", &rest), *step_text = strtok_r(NULL, " ", &rest);
    struct pq_series *s = &series[series_count];
    if (series_count == MAX_SERIES || !name || !step_text || !read_labels(a, name, strlen(name), &s->labels)) return false;
    int64_t step = strtoll(step_text, NULL, 10);
    struct pq_sample *samples = ARENA_NEW_N(a, strlen(rest) / 2 + 1, struct pq_sample);
    if (!samples) return false;
    for (char *v; (v = strtok_r(NULL, " \n", &rest)) != NULL; s->n++) {
        samples[s->n].t_ms = s->n * step;
        if (num_parse(v, strlen(v), &samples[s->n].v) == 0) return false;
    }
    s->samples = samples;
    series_count++;
    return true;
}

static bool load(struct arena *a, const char *path)
{
    FILE *f = fopen(path, "r");
    char *line = NULL;
    size_t cap = 0;
    bool ok = f != NULL;
    while (ok && getline(&line, &cap, f) > 0) ok = read_series(a, line);
    free(line);
    if (f) fclose(f);
    return ok;
}

static const char *label(struct pq_labels l, const char *name)
{
    for (uint32_t i = 0; i < l.n; i++)
        if (strcmp(l.items[i].name, name) == 0) return l.items[i].value;
    return "";
}

static uint32_t first_at_or_after(const struct pq_series *s, int64_t t_ms)
{
    uint32_t low = 0, high = s->n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (s->samples[middle].t_ms < t_ms) low = middle + 1;
        else high = middle;
    }
    return low;
}

static bool select_series(void *ctx, const struct pq_matcher *const *matchers, uint32_t n, int64_t from_ms, int64_t to_ms,
                          bool (*sink)(void *sink_ctx, const struct pq_series *found), void *sink_ctx)
{
    (void)ctx;
    for (uint32_t i = 0; i < series_count; i++) {
        uint32_t k = 0;
        while (k < n && pq_matches(matchers[k], label(series[i].labels, pq_matcher_name(matchers[k])))) k++;
        if (k < n) continue;
        uint32_t from = first_at_or_after(&series[i], from_ms), to = first_at_or_after(&series[i], to_ms + 1);
        struct pq_series part = {series[i].labels, series[i].samples + from, to - from};
        if (part.n && !sink(sink_ctx, &part)) return false;
    }
    return true;
}

/* ---- asking ---- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double sum_of(const struct pq_result *r, struct arena *a)
{
    double *values = ARENA_NEW_N(a, r->n + 1, double), sum = 0;
    uint32_t n = 0;
    for (uint32_t i = 0; values && i < r->n; i++)
        if (isfinite(r->items[i].v)) values[n++] = r->items[i].v;
    if (n) qsort(values, n, sizeof *values, by_value);
    for (uint32_t i = 0; i < n; i++) sum += values[i];
    return sum;
}

static bool ask(const char *text, int64_t at_ms, struct arena *scratch, struct pq_result *ret)
{
    static const struct pq_source source = {NULL, select_series};
    struct err err;
    const struct pq *q = pq_compile(scratch, text, strlen(text), NULL);
    return q && pq_eval(q, &source, at_ms, scratch, ret, &err) == STATUS_OK && ret->type == PQ_VECTOR;
}

static bool measure(unsigned number, const char *text, struct arena *scratch)
{
    struct pq_result r;
    struct buf b = BUF_INIT;
    unsigned long n = 0;
    double from = seconds_now(), took;
    do {
        arena_reset(scratch);
        if (!ask(text, ASKED_AT_MS + (int64_t)(n % 7) * 1000, scratch, &r)) return false;
        n++;
    } while ((took = seconds_now() - from) < SECONDS);
    arena_reset(scratch);
    if (!ask(text, ASKED_AT_MS, scratch, &r)) return false;
    buf_printf(&b, "{\"name\":\"promql_%u\",\"value\":", number);
    buf_fixed(&b, (double)n / took, 1);
    buf_printf(&b, ",\"unit\":\"evaluations/s\"}\n{\"answer\":%u,\"size\":%u,\"sum\":", number, r.n);
    buf_double(&b, sum_of(&r, scratch));
    buf_puts(&b, "}");
    puts(buf_text(&b));
    buf_free(&b);
    return true;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fputs("promql_bench: needs a file of series and one of queries; scripts/bench-peers gives both\n", stderr);
        return 0;
    }
    struct arena kept = ARENA_INIT, scratch = ARENA_INIT;
    char *line = NULL;
    size_t cap = 0;
    unsigned number = 0;
    FILE *f = load(&kept, argv[1]) ? fopen(argv[2], "r") : NULL;
    bool ok = f != NULL;
    while (ok && getline(&line, &cap, f) > 0) {
        line[strcspn(line, "\n")] = '\0';
        if (!(ok = measure(++number, line, &scratch))) fprintf(stderr, "promql_bench: no answer to %s\n", line);
    }
    if (f) fclose(f);
    free(line);
    arena_free(&scratch);
    arena_free(&kept);
    return ok ? 0 : 1;
}
