#include "sim/load.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/num.h"
#include "base/time.h"
#include "stats/dist.h"
#include "stats/elem.h"

static void scale_to_mean_one(float *v, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += (double)v[i];
    double by = (double)n / sum;
    for (size_t i = 0; i < n; i++) v[i] = (float)((double)v[i] * by);
}

static void fill_lognormal(float *v, size_t n, double sigma)
{
    for (size_t i = 0; i < n; i++)
        v[i] = (float)stats_exp(sigma * stats_normal_quantile(((double)i + 0.5) / (double)n));
}

void load_tables_init(struct load_tables *t, const struct load_spread *spread)
{
    for (unsigned i = 0; i < LOAD_EXP_CELLS; i++) t->exp[i] = -stats_log(1.0 - (double)i / LOAD_EXP_CELLS);
    for (unsigned i = 0; i < LOAD_NOISE_CELLS; i++)
        t->normal[i] = (float)stats_normal_quantile(((double)i + 0.5) / LOAD_NOISE_CELLS);
    fill_lognormal(t->work, LOAD_WORK_CELLS, spread->work);
    scale_to_mean_one(t->work, LOAD_WORK_CELLS);
    fill_lognormal(t->kernel, LOAD_NOISE_CELLS, spread->kernel);
    fill_lognormal(t->fetch, LOAD_NOISE_CELLS, spread->fetch);
    scale_to_mean_one(t->fetch, LOAD_NOISE_CELLS);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void load_tables_sizes(struct load_tables *t, double *sizes, size_t n)
{
    CHECK(n > 0);
    qsort(sizes, n, sizeof *sizes, compare_doubles);
    for (size_t i = 0; i < LOAD_WORK_CELLS; i++) t->work[i] = (float)sizes[(2 * i + 1) * n / (2 * LOAD_WORK_CELLS)];
    scale_to_mean_one(t->work, LOAD_WORK_CELLS);
}

double load_exp(const struct load_tables *t, struct prng *rng)
{
    double whole = 0;
    for (;;) {
        uint64_t bits = prng_u64(rng);
        unsigned cell = (unsigned)(bits >> 54);
        if (cell == LOAD_EXP_CELLS - 1) {  /* memoryless: beyond the last cell's start it is the same draw again */
            whole += t->exp[cell];
            continue;
        }
        double part = (double)(bits & ((UINT64_C(1) << 53) - 1)) * 0x1p-53;
        return whole + t->exp[cell] + part * (t->exp[cell + 1] - t->exp[cell]);
    }
}

/* What is left after whole `by`s, in [0, by), for times before zero too. */
static int64_t within(int64_t v, int64_t by) { return (v % by + by) % by; }

static double day_factor(int64_t at_us, const struct load_days *d)
{
    int64_t day = (at_us - within(at_us, US_PER_DAY)) / US_PER_DAY, of_week = within(day, 7), every = (int64_t)d->holiday_every;
    if (every > 0 && within(day - (int64_t)d->holiday_first, every) == 0) return d->holiday;
    return of_week >= 5 ? d->weekend : of_week == 0 ? d->monday : 1.0;
}

static double job_factor(int64_t in_day_us, const struct load_days *d)
{
    int64_t every = (int64_t)d->cron_every;
    if (every <= 0) return 1.0;
    bool running = in_day_us % (every * US_PER_MIN) < (int64_t)d->cron_minutes * US_PER_MIN;
    return running ? d->cron_load : 1.0;
}

double load_season(int64_t at_us, const struct load_days *d)
{
    /* A day of a service used by people: least at 4, a shoulder in the morning, most in the evening; mean 0. */
    static const double wave[24] = {-.30, -.55, -.75, -.90, -.95, -.90, -.70, -.40, -.05, .25, .45, .50,
                                    .45,  .40,  .45,  .50,  .55,  .60,  .65,  .75,  .70,  .45, .15, -.10};
    int64_t in_day = within(at_us, US_PER_DAY);
    int64_t hour = in_day / US_PER_HOUR;
    double part = (double)(in_day % US_PER_HOUR) / (double)US_PER_HOUR;
    double level = wave[hour] + part * (wave[(hour + 1) % 24] - wave[hour]);
    return (1.0 + d->amp * level) * day_factor(at_us, d) * job_factor(in_day, d);
}

struct size_list { double *v; size_t n, cap; };

static bool push_size(struct size_list *l, double v)
{
    if (l->n == l->cap) {
        size_t cap = l->cap ? l->cap * 2 : 4096;
        double *grown = realloc(l->v, cap * sizeof *grown);
        if (!grown) return false;
        l->v = grown;
        l->cap = cap;
    }
    l->v[l->n++] = v;
    return true;
}

/* "..., context, generated" with an optional line end: the sum of the last two fields. */
static bool row_tokens(const char *line, double *ret)
{
    const char *first = strchr(line, ',');
    const char *second = first ? strchr(first + 1, ',') : NULL;
    if (!second) return false;
    uint64_t context, generated;
    size_t tail = strcspn(second + 1, "\r\n");
    if (!num_parse_u64(first + 1, (size_t)(second - first - 1), &context)) return false;
    if (!num_parse_u64(second + 1, tail, &generated)) return false;
    *ret = (double)context + (double)generated;
    return *ret > 0;
}

static enum status read_rows(FILE *in, const char *path, struct size_list *l, struct err *e)
{
    enum { ROWS_MAX = 10000000 };
    char line[512];
    for (unsigned number = 1; fgets(line, sizeof line, in); number++) {
        double tokens;
        if (number == 1) continue;  /* heading */
        if (number > ROWS_MAX) return err_set(e, STATUS_LIMIT, "%s: more than %d rows", path, ROWS_MAX);
        if (!row_tokens(line, &tokens))
            return err_set(e, STATUS_INVALID, "%s:%u: not a row TIMESTAMP,ContextTokens,GeneratedTokens", path, number);
        if (!push_size(l, tokens)) return err_set(e, STATUS_MEMORY, "%s: out of memory at row %u", path, number);
    }
    if (ferror(in)) return err_set(e, STATUS_IO, "%s: reading failed", path);
    if (l->n == 0) return err_set(e, STATUS_INVALID, "%s: no rows", path);
    return STATUS_OK;
}

enum status load_trace_read(const char *path, double **ret_sizes, size_t *ret_n, struct err *e)
{
    FILE *in = fopen(path, "r");
    if (!in) return err_set(e, STATUS_NOT_FOUND, "%s: cannot open the trace; leave it out to use built-in sizes", path);
    struct size_list l = {0};
    enum status s = read_rows(in, path, &l, e);
    fclose(in);
    if (s != STATUS_OK) {
        free(l.v);
        return s;
    }
    *ret_sizes = l.v;
    *ret_n = l.n;
    return STATUS_OK;
}
