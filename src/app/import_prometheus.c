/* History of a service's signals from a Prometheus-compatible server, as the CSV that an import takes. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapt/prom_range.h"
#include "app/clock.h"
#include "app/import.h"
#include "base/check.h"

#define ANSWER_TIME SPAN_S(60)
#define ROWS_MAX 500000u                 /* half a year at 30 s */

struct table { int64_t from, step; uint32_t rows, columns, column; double *values; uint64_t known; };

static bool add(void *arg, struct wall at, double value)
{
    struct table *t = arg;
    int64_t row = (at.us - t->from) / t->step;
    if (row < 0 || row >= (int64_t)t->rows) return false;
    t->values[(size_t)row * t->columns + t->column] = value;
    t->known += value - value == 0;
    return true;
}

static const json_t *find_service(const json_t *config, const char *name)
{
    size_t i;
    const json_t *s;
    json_array_foreach(json_object_get(config, "services"), i, s) {
        const char *have = json_string_value(json_object_get(s, "name"));
        if (have && strcmp(have, name) == 0) return s;
    }
    return NULL;
}

/* One column a signal. A query that the server refuses costs that signal its past, not the others. */
static enum status fill(struct table *t, const json_t *signals, const struct import_from *f, struct err *e)
{
    enum status s = STATUS_OK;
    struct prom_range *p = prom_range_new(f->url, f->bearer_file, e);
    if (!p) return e->code;
    for (t->column = 0; s == STATUS_OK && t->column < t->columns; t->column++) {
        const json_t *signal = json_array_get(signals, t->column);
        const char *text = json_string_value(json_object_get(signal, "query"));
        const char *name = json_string_value(json_object_get(signal, "name"));
        uint64_t ambiguous = 0;
        if (!text || !name) continue;
        struct prom_range_query q = {.text = text, .from = {t->from}, .to = {t->from + (int64_t)(t->rows - 1) * t->step},
                                     .step = {t->step}, .timeout = ANSWER_TIME};
        s = prom_range_ask(p, &q, &(struct prom_range_sink){t, add}, &ambiguous, e);
        if (ambiguous)
            fprintf(stderr, "%s: several series at %llu steps, which are left out: sum, max or select in its query\n", name,
                    (unsigned long long)ambiguous);
        if (s != STATUS_INVALID) continue;
        fprintf(stderr, "%s has no history: %s\n", name, e->text);
        s = STATUS_OK;
    }
    prom_range_free(p);
    return s;
}

static void write_csv(const struct table *t, const json_t *signals, struct buf *out)
{
    out->limit = (size_t)1 << 30;
    buf_puts(out, "timestamp");
    for (uint32_t k = 0; k < t->columns; k++)
        buf_printf(out, ",%s", json_string_value(json_object_get(json_array_get(signals, k), "name")));
    buf_putc(out, '\n');
    for (uint32_t i = 0; i < t->rows; i++) {
        const double *row = &t->values[(size_t)i * t->columns];
        bool any = false;
        for (uint32_t k = 0; k < t->columns && !any; k++) any = row[k] - row[k] == 0;
        if (!any) continue;
        wall_print(out, (struct wall){t->from + (int64_t)i * t->step});
        for (uint32_t k = 0; k < t->columns; k++) {
            buf_putc(out, ',');
            if (row[k] - row[k] == 0) buf_double(out, row[k]);
        }
        buf_putc(out, '\n');
    }
}

enum status import_from_prometheus(const json_t *config, const struct import_from *f, struct buf *out, struct err *e)
{
    const json_t *service = find_service(config, f->service), *signals = json_object_get(service, "signals");
    if (!service) return err_set(e, STATUS_NOT_FOUND, "no service %s; see trimtab status", f->service);
    struct table t = {.step = (int64_t)(json_number_value(json_object_get(config, "tick_seconds")) * 1e6)};
    if (t.step < US_PER_S) return err_set(e, STATUS_INVALID, "the daemon's answer names no tick");
    int64_t rows = f->back.us / t.step, to = clock_real_us() / t.step * t.step - t.step;
    if (rows < 1 || rows > ROWS_MAX) return err_set(e, STATUS_LIMIT, "--since: between one tick and %u of them", ROWS_MAX);
    t.rows = (uint32_t)rows;
    t.columns = (uint32_t)json_array_size(signals);
    t.from = to - (rows - 1) * t.step;
    t.values = malloc((size_t)t.rows * (t.columns + 1) * sizeof *t.values);
    CHECK_MEMORY(t.values);
    for (size_t i = 0; i < (size_t)t.rows * t.columns; i++) t.values[i] = NAN;
    enum status s = fill(&t, signals, f, e);
    if (s == STATUS_OK && t.known == 0) s = err_set(e, STATUS_NOT_FOUND, "the server has no past of the signals of %s", f->service);
    if (s == STATUS_OK) write_csv(&t, signals, out);
    if (s == STATUS_OK && !buf_ok(out)) s = err_set(e, STATUS_LIMIT, "more than a gigabyte of history; take a shorter --since");
    free(t.values);
    return s;
}
